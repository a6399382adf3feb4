"""Secrets are found by kind and place; prose, code and placeholders are left alone.

Key shapes are put together at run time, so that no scanner trips over this file.
"""

from __future__ import annotations

import base64
import random
import string
import time

import pytest

from palace.secrets import find_secrets, redact
from palace.secrets.findings import Finding, describe
from palace.secrets.values import entropy_bits

_random = random.Random(7)


def chars(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Random characters of an alphabet; a digit and an upper-case letter are always among them."""
    made = "".join(_random.choice(alphabet) for _ in range(count - 2))
    return made + ("A" if "A" in alphabet else alphabet[-1]) + "7"


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
URLSAFE = string.ascii_letters + string.digits + "_-"
PEM = "\n".join(chars(64) for _ in range(4))


def block(kind: str, body: str = PEM) -> str:
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


JWT = ".".join(["eyJ" + chars(20), "eyJ" + chars(30), chars(43, URLSAFE)])

# kind, the secret, the text around it
SHAPES = [
    ("aws-access-key", "AKIA" + chars(16, UPPER), "key {} of the bucket"),
    ("aws-access-key", "ASIA" + chars(16, UPPER), "({})"),
    ("aws-secret-key", chars(40, string.ascii_letters + string.digits + "+/"), "aws_secret_access_key = {}"),
    ("aws-secret-key", chars(40, string.ascii_letters + string.digits + "+"), 'AWS_SECRET_ACCESS_KEY="{}"'),
    ("notion-token", "secret" + "_" + chars(43), "the wiki uses {}"),
    ("replicate-token", "r8" + "_" + chars(37), "export it: {}"),
    ("supabase-token", "sbp" + "_" + chars(40, HEX), "use {}"),
    ("figma-token", "figd" + "_" + chars(40, URLSAFE), "use {}"),
    ("doppler-token", "dp." + "pt." + chars(43), "use {}"),
    ("doppler-token", "dp." + "st.dev." + chars(43), "use {}"),
    ("pulumi-token", "pul" + "-" + chars(40, HEX), "use {}"),
    ("airtable-token", "pat" + chars(14) + "." + chars(64, HEX), "use {}"),
    ("terraform-token", chars(14) + ".atlasv1." + chars(67), "use {}"),
    ("rubygems-key", "rubygems" + "_" + chars(48, HEX), "use {}"),
    ("paypal-token", "access_token" + "$production$" + chars(16) + "$" + chars(32, HEX), "use {}"),
    ("sentry-token", "sntrys" + "_" + chars(80) + "=_" + chars(43), "upload with {}"),
    ("github-token", "ghp_" + chars(36), "use {} for the mirror"),
    ("github-token", "gho_" + chars(36), "use {}."),
    ("github-token", "github_pat_" + chars(22) + "_" + chars(59), "use {}"),
    ("gitlab-token", "glpat-" + chars(20), "token {}"),
    ("token", chars(40, HEX), "GITEA_TOKEN={}"),
    ("token", chars(40, HEX), "gitea token: {}"),
    ("openai-key", "sk-" + chars(48), "the key is {}"),
    ("openai-key", "sk-proj-" + chars(40, URLSAFE) + chars(20), "key: {}"),
    ("openai-key", "sk-or-v1-" + chars(64, HEX), "{}"),
    ("anthropic-key", "sk-ant-api03-" + chars(40) + "-" + chars(20), "{}"),
    ("google-api-key", "AIza" + chars(35, URLSAFE), "maps key {}"),
    ("google-oauth-token", "ya29." + chars(60, URLSAFE), "{}"),
    ("google-oauth-token", "GOCSPX-" + chars(28, URLSAFE), "{}"),
    ("slack-token", "xoxb-" + chars(12, string.digits) + "-" + chars(24), "bot {}"),
    ("slack-webhook", "hooks.slack.com/services/T" + chars(8, UPPER) + "/B" + chars(8, UPPER) + "/" + chars(24), "https://{}"),
    ("stripe-key", "sk_live_" + chars(24), "{}"),
    ("stripe-key", "rk_test_" + chars(24), "{}"),
    ("npm-token", "npm_" + chars(36), "//registry/:_auth {}"),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + chars(60, URLSAFE), "{}"),
    ("sendgrid-key", "SG." + chars(22, URLSAFE) + "." + chars(43, URLSAFE), "{}"),
    ("twilio-key", "SK" + chars(32, HEX), "{}"),
    ("telegram-bot-token", "123456789:AA" + chars(33), "bot {}"),
    ("discord-token", "M" + chars(23) + "." + chars(6) + "." + chars(27), "{}"),
    ("discord-webhook", "discord.com/api/webhooks/" + chars(18, string.digits) + "/" + chars(68, URLSAFE), "https://{}"),
    ("jwt", JWT, "he pasted {} here"),
    ("azure-key", chars(86) + "==", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x"),
    ("huggingface-token", "hf_" + chars(34), "{}"),
    ("mailgun-key", "key-" + chars(32, HEX), "{}"),
    ("vault-token", "hvs." + chars(40), "{}"),
    ("age-key", "AGE-SECRET-KEY-1" + chars(58, UPPER), "{}"),
    ("private-key", block("RSA PRIVATE KEY"), "the key:\n{}\nkeep it"),
    ("private-key", block("OPENSSH PRIVATE KEY"), "{}"),
    ("private-key", block("PRIVATE KEY"), "{}"),
    ("private-key", block("ENCRYPTED PRIVATE KEY"), "{}"),
    ("private-key", block("PGP PRIVATE KEY BLOCK", "Version: 1\n\n" + PEM), "{}"),
    ("private-key", block("EC PRIVATE KEY").replace("\n", "\\n"), '{{"k": "{}"}}'),
    ("private-key", "-----BEGIN PRIVATE KEY-----\n" + PEM, "{}"),
    ("private-key", PEM, "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 4\n{}\nPrivate-MAC: 0"),
    ("mailchimp-key", chars(32, HEX) + "-us12", "key {}"),
    ("artifactory-key", "AKC" + chars(60), "X-JFrog-Art-Api: {}"),
    ("square-key", "sq0csp-" + chars(43, URLSAFE), "{}"),
    ("jwt", ".".join(["eyJ" + chars(20), "eyJ" + chars(30)]), "unsigned {}"),
    ("telegram-bot-token", "123456789:AA" + chars(33), "api.telegram.org/bot{} is ours"),
    ("azure-key", chars(86) + "==", "the azure storage account\n\n{}"),
    ("registry-login", "0b" + "-".join(chars(4, HEX) for _ in range(4)), "//registry.npmjs.org/:_authToken={}"),
    ("registry-login", "YWRt" + "aW46cGFz", "//npm.acme.dev/team/:_auth = {}"),
]  # fmt: skip

P = "Blue" + "heron42!"
T = chars(24)

ASSIGNED = [
    ("password", P, "password = {}"),
    ("password", P, "password: {}"),
    ("password", P, "The wifi password: {} (guest network)"),
    ("password", P, 'password = "{}"'),
    ("password", P, "password='{}'"),
    ("password", P, '{{"password": "{}", "user": "bob"}}'),
    ("password", P, '\\"password\\": \\"{}\\"'),
    ("password", P, "pwd={}"),
    ("password", P, "db login: user=bob, password={}"),
    ("password", P, "**Password:** {}"),
    ("password", P, "- `password`: `{}`"),
    ("password", P, "PGPASSWORD={} psql"),
    ("password", P, "export SMTP_PASS={}"),
    ("password", P, "dbPassword: {}"),
    ("password", P, "Passwort: {}"),
    ("password", P, "contraseña: {}"),
    ("password", P, "пароль: {}"),
    ("password", P, "密码：{}"),
    ("password", P, "비밀번호: {}"),
    ("password", P, "Mot de passe : {}"),
    ("password", P, "mot_de_passe = {}"),
    ("password", P, "Le mot de passe est {}"),
    ("password", P, "La contraseña es {}."),
    ("password", P, "Palavra-passe: {}"),
    ("password", P, "wachtwoord: {}"),
    ("password", P, "hasło={}"),
    ("password", P, "lösenord: {}"),
    ("password", P, "Wi-Fi şifre: {}"),
    ("password", P, "Kasa şifresi: {}"),
    ("password", P, "Şifrem {}"),
    ("password", P, "Parola: {}"),
    ("password", P, "密码是{}"),
    ("password", P, "口令：{}"),
    ("password", P, "パスワードは{}です。"),
    ("password", P, "ﾊﾟｽﾜｰﾄﾞ: {}"),
    ("password", P, "비밀번호는 {} 이다"),
    ("password", P, "비번: {}"),
    ("pin", "4711", "暗証番号は{}です。"),
    ("pin", "4711", "PIN码是{}"),
    ("pin", "4711", "핀번호는 {}"),
    ("pin", "4711", "PIN kodum {}"),
    ("password", P, "<password>{}</password>"),
    ("password", P, "Server=db;User Id=sa;Password={};Encrypt=true"),
    ("password", P, "config['password'] = '{}'"),
    ("password", P, "password: str = '{}'"),
    ("password", P, "$password = \"{}\";"),
    ("password", "hunter" + "2", "password = {}"),
    ("password", "hunter" + "2", "password: {}"),
    ("password", "let" + "mein", "pwd={}"),
    ("password", "silver" + "spoon", 'password = "{}"'),
    ("password", "silver" + "spoon", "DB_PASSWORD={}"),
    ("password", "correct-horse-" + "battery-staple", "password: {}"),
    ("password", "correct horse " + "battery staple", 'passphrase = "{}"'),
    ("password", "4711" + "08", "password = {}"),
    ("password", P, "the admin password is {}"),
    ("password", P, "The password is `{}`, do not share"),
    ("password", P, "Das Passwort ist {}."),
    ("api-key", T, "API_KEY: {}"),
    ("api-key", T, "api_key = '{}'"),
    ("api-key", T, "apiKey={}"),
    ("api-key", T, "API key: {}"),
    ("api-key", T, "X_ACCESS_KEY={}"),
    ("token", T, "export X_TOKEN={}"),
    ("token", T, "token: {}"),
    ("token", T, '"access_token": "{}"'),
    ("token", T, "auth-token={}"),
    ("token", chars(32, HEX), "bot_token = {}"),
    ("secret", T, '"secret": "{}"'),
    ("secret", "open" + "sesame", '"secret": "{}"'),
    ("secret", T, "client_secret={}"),
    ("secret", T, "clientSecret: '{}'"),
    ("high-entropy-value", chars(32, HEX), "x_auth = {}"),
    ("high-entropy-value", chars(44), "session: {}"),
    ("high-entropy-value", base64.b64encode(bytes(_random.randrange(256) for _ in range(48))).decode(), "wrapped_x = {}"),
    ("database-url", "s3" + "cret", "postgres://app:{}@db.internal:5432/main"),
    ("database-url", P[:-1], "mongodb+srv://app:{}@cluster.net/x"),
    ("database-url", P[:-1], "redis://:{}@cache:6379/0"),
    ("basic-auth", "pa" + "ss", "https://user:{}@host"),
    ("basic-auth", "p@s" + "s9", "see https://bob:{}@git.internal/x.git for it"),
    ("basic-auth", P[:-1], "curl -u bob:{} https://host/x"),
    ("url-token", T, "https://host/x?access_token={}"),
    ("url-token", T, "https://host/x?page=2&api_key={}&sort=asc"),
    ("url-token", "Blue" + "heron", "jdbc:mysql://host/db?user=a&password={}"),
    ("authorization-header", T, "Authorization: Bearer {}"),
    ("authorization-header", T, "-H 'Authorization: token {}'"),
    ("authorization-header", base64.b64encode(b"user:password").decode(), "Authorization: Basic {}"),
    ("authorization-header", T, "X-Api-Key: {}"),
    ("bearer-token", T, "send bearer {} along"),
    ("command-line-secret", P[:-1], "mysql --password {} -h db"),
    ("password", P[:-1], "mysql --password={} -h db"),
    ("password", "{{h" + "}5p)q$e]r#s}}", "password = '{}'"),
    ("password", P, "proxy_password '{}';"),
    ("api-key", T, 'apikey = @"{}";'),
    ("api-key", T, "apikey[] = '{}'"),
    ("command-line-secret", P[:-1], "mysql -p{} -h db"),
    ("command-line-secret", P[:-1], "mysql -u root -p{} shop < dump.sql"),
    ("command-line-secret", "blau" + "reiher", "run `mysqldump -uroot -p'{}' shop` at night"),
    ("command-line-secret", "Blue" + "heron", "mariadb-dump -p{} --all-databases"),
    ("command-line-secret", P[:-1], "sshpass -p '{}' ssh bob@host"),
    ("command-line-secret", P[:-1], "redis-cli -h cache -a {} ping"),
    ("basic-auth", P[:-1], "machine ftp.acme.example login bob password {}"),
    ("basic-auth", P[:-1], "machine ftp.acme.example\n  login bob\n  password {}"),
    ("pin", "4711", "PIN {}"),
    ("pin", "4711", "PIN: {}"),
    ("pin", "47110", "The PIN of the blue card is {}."),
    ("pin", "4711", "Die PIN meiner Karte ist {}, glaube ich"),
    ("pin", "4711", "my pin is {}"),
    ("pin", "4711", "pin code: {}"),
    ("pin", "87654321", "PUK: {}"),
    ("password", P[:-1], "WordPress pass: {}"),
]  # fmt: skip

FALSE_ALARMS = [
    "boarding pass: AB123C",
    "Boarding Pass: 4DX7Q2, seat 12A",
    "boarding_pass: AB123C",
    '{"boardingPass": "AB123C"}',
    "Our ski pass = KX90210",
    "mysql -p shop",
    "mysql -p$MYSQL_PASSWORD shop",
    "mysql -ppassword shop",
    "mysql -P 3306; lsof -p1234",
    "Connect PIN 13 to ground",
    "pin 4711 parts to the board",
    "Bengaluru, PIN 560001",
    "PIN 1100-23 on the drawing",
    "the PIN is on the card",
    "PIN: 4711.5 mm",
    "The PIN for the year 2024 was changed",
    "PIN4711",
    "the password is on the card inside the tea cabinet",
    "The password is written under the keyboard.",
    "password: see 1Password",
    "Kablosuz ağın şifresi buzdolabının yanındaki kâğıtta yazıyor.",
    "Şifresi 2.katta duruyor.",
    "Nuova parola: sprezzatura",
    "家里的无线网络密码写在冰箱旁边的便签上。",
    "密码是2026-03-14改的。",
    "密码8位以上",
    "パスワードはWi-Fiルーターの裏。",
    "パスワードは1Passwordにある。",
    "暗証番号は4桁。",
    "暗証番号は2026年に変えた。",
    "비밀번호는 냉장고 옆 쪽지에 적혀 있다.",
    "암호는 8자리 이상",
    "password: ask Alice",
    "Password: required",
    "password: must be 12 characters",
    "password: 1Password vault, item 3",
    "The password is SHA-256 hashed before it is stored",
    "the password is 8-characters long",
    "The password was changed in 2024.",
    "the passphrase is something only Bob knows",
    "We rotate the token every 90 days",
    "token budget = 800",
    "max_tokens = 4096",
    "tokens: 128000",
    "token: str",
    "token: Optional[str] = None",
    "token: string;",
    "password=None",
    "password = null",
    'password = ""',
    'password = os.environ["X"]',
    "password = os.getenv('DB_PASSWORD')",
    "password = settings.database.password",
    "password = get_password(user)",
    "password=password",
    "connect(user=user, password=pwd)",
    "self.token = token",
    "const token = await getToken();",
    "token = response.json()['access_token']",
    "token: process.env.TOKEN",
    "token: ${{ secrets.DEPLOY }}",
    "api_key=${API_KEY}",
    "api_key=$API_KEY",
    "API_KEY={{ api_key }}",
    "API_KEY=<your-token>",
    "API_KEY=your-api-key-here",
    "api_key: YOUR_API_KEY",
    "password: ****",
    "password: ********",
    "password = 'changeme'",
    "password: <password>",
    "password: %(password)s",
    "secret = 'xxxxxxxxxxxx'",
    "token = 'REDACTED'",
    "SECRET_KEY_FILE=/run/secrets/key",
    "password_file: /etc/app/db.pw",
    "password: /run/secrets/db_password",
    "token: op://vault/item/field",
    '"Resource": "arn:aws:secretsmanager:*:*:secret:events!connection/*"',
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    "secret: arn:aws:secretsmanager:eu-west-1:1:secret:x",
    "AKIAIOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "ghp_" + "x" * 36,
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Bearer authentication is what the gateway expects",
    "The Authorization: header must be set by the proxy",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "commit: 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "fixed in 9fceb02",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "checksum = d41d8cd98f00b204e9800998ecf8427e",
    "integrity: sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "request token: 550e8400-e29b-41d4-a716-446655440000",
    "ulid: 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "id=m-01ARZ3NDEKTSV4RRFFQ69G5FAV kind=fact",
    "cache_key = d41d8cd98f00b204e9800998ecf8427e",
    "idempotency_key: 550e8400-e29b-41d4-a716-446655440000",
    "path = /usr/local/lib/python3/site-packages/thing/module.py",
    "token_path: ~/.config/app/token.json",
    "module = com/acme/LongProductName2/InternalThing/VeryLongClassNameHere",
    "https://example.org/search?q=tokens&page=2&sort=asc",
    "https://example.org/list?pageToken=CAUQAA2345678901",
    "https://example.org/a?key=project-plan-2024",
    "https://user@host/path",
    "http://localhost:8080/user:list@all",
    "https://user:$PASSWORD@host/x",
    "postgres://app:<password>@db/main",
    "postgres://app:${DB_PASSWORD}@db/main",
    "![x](data:image/png;base64,iVBORw0KGgo" + chars(300) + "==)",
    "Policy number: HX-4471-2209-A",
    "policy = HX44712209A",
    "Call +49 30 1234567 after six",
    "phone: 030/1234567",
    "key: value",
    "key = C minor",
    "The key: be early",
    "primary_key=True",
    "secret: the cake needs a pinch of salt",
    "His secret: oat milk",
    "Secret Santa: draw names on Friday",
    "pass: 7, fail: 2",
    "PWD=/home/bob/project",
    "sk-learn-style-estimators-are-preferred",
    "class sk-cube-grid-loading-animation",
    "Passwords: rotate them in March and September",
    "wifi password is in the blue folder (second shelf)",
    "password policy: 14 characters, one digit",
    "'password': 'Password'",
    '"password": "Passwort vergessen?"',
    '"forgotPassword": "Forgot your password?"',
    'type="password"',
    'input[type="password"] { color: red }',
    "token: OAuth2 flow",
    "secret: Base64-encoded string",
    "secretName: my-tls-secret",
    'secret: "postgres-credentials"',
    "docker run -u 1000:1000 image",
    "git push -u origin:main",
    "the file starts with -----BEGIN PRIVATE KEY----- and so on",
    "-----BEGIN PUBLIC KEY-----\n" + PEM + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + PEM + "\n-----END CERTIFICATE-----",
    "model: gpt-4o-mini-2024-07-18",
    "version: 3.12.1",
    "at 12:30: meeting with Dana",
    "[secret removed: password]",
    "password = [secret removed: password]",
    "JWT tokens begin with eyJ",
    "use `--password` only in tests",
    "--token takes a value",
    "def login(password: str, token: str | None = None) -> Session:",
    "if password == expected_password:",
    "パスワードは金庫の中にある",
    "Das Passwort ist im Tresor.",
    "api_key = '{{ vault.api_key }}'",
    "password: {{ lookup('env', 'DB_PASSWORD') }}",
    "my_password = 'fake" + "secret'",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "azure cli\npublic key: " + chars(86) + "==",
    "azure\nresolution: {integrity: sha512-" + chars(86) + "==}",
    "the eyJust.eyJoy of it",
    'private_key "";',
    "",
]


@pytest.mark.parametrize(("kind", "secret", "text"), SHAPES + ASSIGNED)
def test_secret_is_found_and_covered_and_the_text_around_stays(kind, secret, text):
    whole = text.format(secret)
    findings = find_secrets(whole)
    assert [f.kind for f in findings] == [kind]
    assert secret in whole[findings[0].start : findings[0].end]
    assert redact(whole) == whole.replace(secret, f"[secret removed: {kind}]")


@pytest.mark.parametrize("text", FALSE_ALARMS)
def test_harmless_text_is_left_alone(text):
    assert find_secrets(text) == ()
    assert redact(text) == text


def test_all_secrets_of_a_text_are_found_in_order():
    text = f"password = {P}\nuser = bob\ntoken: {T}\nurl https://a:b4c5d6@host"
    assert [f.kind for f in find_secrets(text)] == ["password", "token", "basic-auth"]
    assert redact(text) == (
        "password = [secret removed: password]\nuser = bob\ntoken: [secret removed: token]\n"
        "url https://a:[secret removed: basic-auth]@host"
    )


def test_overlapping_findings_become_one():
    key = "ghp_" + chars(36)
    findings = find_secrets(f"token = {key}")
    assert len(findings) == 1


def test_value_is_never_in_the_finding_or_the_description():
    text = f"first line\n  password = {P}\ntoken: {T}"
    findings = find_secrets(text)
    said = describe(findings, text)
    assert said == "password at line 2, column 14; token at line 3, column 8"
    assert P not in repr(findings)
    assert describe((), text) == ""


def test_findings_are_plain_values():
    (finding,) = find_secrets(f"pwd={P}")
    assert finding == Finding("password", 4, 4 + len(P))


def test_secret_longer_than_any_bound_is_removed_whole():
    for text in (f"token={chars(5000)}", f'token="{chars(5000)}"', f'token="{chars(5000)}'):
        assert len(redact(text)) < 60


def test_unclosed_quote_does_not_hide_a_secret():
    assert P not in redact(f'password = "{P}')
    assert P not in redact(f'password = "{P} and more words')


def test_escaped_quote_inside_a_secret_does_not_end_it():
    assert "tail99" not in redact('password = "ab12\\"tail99"')


def test_image_data_hides_no_secret_outside_itself():
    text = f"data:image/png;base64,{chars(200)} password = {P}"
    assert [f.kind for f in find_secrets(text)] == ["password"]


@pytest.mark.parametrize(
    ("value", "bits"), [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)]
)
def test_entropy(value, bits):
    assert entropy_bits(value) == pytest.approx(bits)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "=",
        " ",
        "a=",
        "token=,",
        'password="\\"',
        "password: ",
        "password is ",
        "key = a ",
        "https://a:",
        "://",
        "?token=",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAAAAAA",
        "eyJabcdefgh.",
        "eyJabcdefgh.eyJabcdefgh.",
        "sk-",
        "sk-ant-a-",
        "xoxb-",
        "data:image/png",
        "data:image/png;base64,",
        "12345678:",
        "MAAAAAAAAAAAAAAAAAAAAAAAA.",
        "[secret removed: x]",
        "password=[secret removed: x]",
        "x-",
        "--token ",
        "-u a:",
        "mysql ",
        "mysql -p",
        "PIN of ",
        "hooks.slack.com/services/",
        "token=",
        "token='",
        "Authorization: ",
        "A1",
    ],
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    find_secrets(text)
    assert time.process_time() - started < 4


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\x07", "\u202e", "\U000e0041"]
)
def test_a_secret_that_invisible_characters_part_is_one(hidden):
    """They are taken out where a memory is shown, and it would stand there whole."""
    token = "ghp_" + chars(36)
    text = f"use {token[:9]}{hidden}{token[9:20]}{hidden}{token[20:]} for{hidden} the mirror"
    (found,) = find_secrets(text)
    assert found.kind == "github-token"
    assert redact(text) == f"use [secret removed: github-token] for{hidden} the mirror"
    assert find_secrets(f"the{hidden} mirror is{hidden} blue") == ()
