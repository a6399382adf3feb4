"""What a prompt tells the memory, in every language; and all that it does not."""

from __future__ import annotations

import pytest

from palace.learn.last_word import righted
from palace.learn.requests import Contradiction, Keep, Listener
from palace.recall.lexicon import DEFAULT_LANGUAGES, load_lexicons
from palace.types.changes import Unclear
from palace.types.memory import Memory
from tests.doubles import memory


@pytest.fixture(scope="module")
def listener() -> Listener:
    return Listener(load_lexicons(DEFAULT_LANGUAGES), timeout_ms=200)


@pytest.mark.parametrize(
    ("prompt", "statement"),
    [
        ("Remember this: the port is 5433.", "the port is 5433."),
        ("please remember: Olga is on leave in May", "Olga is on leave in May"),
        ("Keep in mind for later: the key is under the mat.", "the key is under the mat."),
        ("Remember that we deploy on Tuesdays.", "we deploy on Tuesdays."),
        ("Please keep in mind for good: the port is 5433.", "the port is 5433."),
        ("Merk dir: der Port ist 5433.", "der Port ist 5433."),
        ("Bitte merk dir, dass der Port 5433 ist.", "der Port 5433 ist."),
        ("Retiens ceci : le port est 5433.", "le port est 5433."),
        ("N'oublie pas que le port est 5433.", "le port est 5433."),
        ("Souviens-toi que je suis allergique aux noix.", "je suis allergique aux noix."),
        ("Garde en mémoire que Jonas est végétarien", "Jonas est végétarien"),
        ("Retenez que la réunion est à 10 h", "la réunion est à 10 h"),
        ("Schreib dir auf, dass der Keller den Code 7719 hat", "der Keller den Code 7719 hat"),
        ("Denk bitte dran, dass ich montags nie kann.", "ich montags nie kann."),
        ("Recuerda esto: el puerto es 5433.", "el puerto es 5433."),
        ("Recuerda que el puerto es 5433.", "el puerto es 5433."),
        ("Acuérdate de que Marta es vegetariana", "Marta es vegetariana"),
        ("Apunta que el pintor viene el martes", "el pintor viene el martes"),
        ("No te olvides de que el código es 7719", "el código es 7719"),
        ("Ten presente que los viernes cerramos a las dos", "los viernes cerramos a las dos"),
        ("Tomá nota: el pintor viene el martes", "el pintor viene el martes"),
        ("Acordate que el pintor viene el martes", "el pintor viene el martes"),
        ("Lembre-se disto: a porta é 5433.", "a porta é 5433."),
        ("Anota aí: o pintor vem na terça", "o pintor vem na terça"),
        ("Anote que o pintor vem na terça", "o pintor vem na terça"),
        ("Guarda isto: o código é 7719", "o código é 7719"),
        ("Tenha em mente que a Marta é vegetariana", "a Marta é vegetariana"),
        ("Não esquece que o código é 7719", "o código é 7719"),
        ("Lembre-se de que a porta é 5433.", "a porta é 5433."),
        ("请记住：端口是5433。", "端口是5433。"),
        ("记住端口是5433", "端口是5433"),
        ("记住了，我的鞋码是43", "我的鞋码是43"),
        ("麻烦你记住我的车是灰色的", "我的车是灰色的"),
        ("備忘：下週三看牙", "下週三看牙"),
        ("暗証番号は7719、覚えといて", "暗証番号は7719"),
        ("月曜は都合が悪いことを覚えておいて", "月曜は都合が悪い"),
        ("靴のサイズは27センチって覚えておいてね", "靴のサイズは27センチ"),
        ("健太は卵が苦手だということを忘れないで", "健太は卵が苦手だ"),
        ("忘れないでね、燃えないゴミは第3木曜", "燃えないゴミは第3木曜"),
        ("メモ：祖母は1月3日に来る", "祖母は1月3日に来る"),
        ("これを覚えておいて：ポートは5433です。", "ポートは5433です。"),
        ("ポートは5433だと覚えておいて", "ポートは5433だ"),
        ("Запомни: порт стенда 5433.", "порт стенда 5433."),
        ("Запомни, что порт стенда 5433.", "порт стенда 5433."),
        ("Запиши, что маляр придёт во вторник", "маляр придёт во вторник"),
        ("Имей в виду, что Марта вегетарианка", "Марта вегетарианка"),
        ("Не забывай, что код 7719", "код 7719"),
        ("Сохрани: код 7719", "код 7719"),
        ("Ricordati questo: la porta è 5433.", "la porta è 5433."),
        ("Prendi nota che il pittore viene martedì", "il pittore viene martedì"),
        ("Non ti scordare che il codice è 7719", "il codice è 7719"),
        ("Tenga presente che Marta è vegetariana", "Marta è vegetariana"),
        ("Non dimenticare che la porta è 5433.", "la porta è 5433."),
        ("Onthoud dit: de poort is 5433.", "de poort is 5433."),
        ("Vergeet niet dat de poort 5433 is.", "de poort 5433 is."),
        ("이거 기억해 줘: 포트는 5433이야.", "포트는 5433이야."),
        ("포트는 5433번을 쓴다고 기억해 줘", "포트는 5433번을 쓴다"),
        ("민서는 금요일에 쉰다는 거 잊지 마", "민서는 금요일에 쉰다"),
        ("회비가 13만원으로 올랐다고 적어 줘", "회비가 13만원으로 올랐다"),
        ("quiero que recuerdes que Marta es vegetariana", "Marta es vegetariana"),
        ("note que le peintre vient mardi", "le peintre vient mardi"),
        ("souviens toi que Marta est végétarienne", "Marta est végétarienne"),
        ("garde en tete que le code est 7719", "le code est 7719"),
        ("bitte merken: der Code ist 7719", "der Code ist 7719"),
        ("nao esquece que o código é 7719", "o código é 7719"),
        ("schrijf op dat de code 7719 is", "de code 7719 is"),
        ("hou in gedachten dat Marta vegetariër is", "Marta vegetariër is"),
        ("你要记住玛塔吃素", "玛塔吃素"),
        ("団費は2600円になったとメモして", "団費は2600円になった"),
        ("マルタは菜食なので忘れないで", "マルタは菜食"),
        ("メモして、管理会社の電話は8888-6666。", "管理会社の電話は8888-6666"),
        ("覚えておいて！車はB2階。", "車はB2階"),
        ("메모해 줘, 관리사무소 전화는 8888-6666이다.", "관리사무소 전화는 8888-6666이다"),
        ("Yer fıstığına alerjim var, bunu unutma.", "Yer fıstığına alerjim var"),
        ("Araba B2 katında, unutma.", "Araba B2 katında"),
        ("Unutma, araba B2 katında.", "araba B2 katında"),
    ],
)
def test_a_request_is_heard_in_every_language(listener, prompt, statement):
    assert listener.request_to_keep(prompt) == Keep((statement,))


@pytest.mark.parametrize(
    "statement",
    [
        "Dr. Novak comes at 10 on Friday.",
        "we pay approx. 30 euros to St. Mary.",
        "the call is at 3 p.m. on Friday.",
        "the U.S. office opens on May 3.",
        "I live at 5 Oak Ave. in Oxford.",
        "wir am 3. Juni fliegen.",
    ],
)
def test_a_full_stop_that_ends_no_sentence_ends_no_statement(listener, statement):
    said = "Merk dir, dass" if statement.startswith("wir") else "Remember that"
    kept = listener.request_to_keep(f"{said} {statement} What else?")
    assert kept == Keep((statement,), "What else?")


@pytest.mark.parametrize(
    ("prompt", "statements", "rest"),
    [
        (
            "Remember this: we moved. It took 11 minutes. When did we move?",
            ("we moved. It took 11 minutes.",),
            "When did we move?",
        ),
        (
            "Thanks! Remember for later: the lamp is green. Write a haiku about lamps.",
            ("the lamp is green.",),
            "Thanks!\nWrite a haiku about lamps.",
        ),
        (
            "remember this:\n- the port is 1\n- the host is two\n\nNow go on.",
            ("the port is 1", "the host is two"),
            "Now go on.",
        ),
        ("Remember that we sail at nine. And now?", ("we sail at nine.",), "And now?"),
    ],
)
def test_the_rest_of_a_prompt_is_kept_apart(listener, prompt, statements, rest):
    assert listener.request_to_keep(prompt) == Keep(statements, rest)


@pytest.mark.parametrize(
    "prompt",
    [
        "Do you remember this: the port is 5433?",
        "Remember this: is the port 5433?",
        "Remember this?",
        "Remember this: yes",
        "Do you remember where we met?",
        "Remember to call Bob.",
        "Remember that time we went to Rome!",
        "Remember that you are a pirate.",
        'He said: "Remember this: the port is 5433."',
        '"Remember this: the port is 5433."',
        "> Remember this: the port is 5433.",
        "Translate to German: remember this: the port is 5433.",
        "Translate the following text. Remember this: the port is 5433.",
        "Translate:\nremember this: the port is 5433.",
        "Write a poem. Remember that it must rhyme.",
        "```\nremember this: the port is 5433.\n```",
        '{"text": "remember this: the port is 5433."}',
        "2026-05-07 14:30:00 INFO remember this: the port is 5433.",
        "<memory-context>\nremember this: the port is 5433.\n</memory-context>",
        "A story. " * 60 + "Remember this: the port is 5433.",
        "x" * 1600 + "\nRemember this: the port is 5433.",
        "你记住了吗?",
        "记住了",
        "别忘了给王总打电话",
        "宿題を忘れないで",
        "会議の内容をメモして",
        "Souviens-toi que tu es un pirate.",
        "Onthoud dat je een piraat bent.",
        "Schreib, dass ich am Montag komme.",
        "覚えていますか?",
        "Lembra que a gente foi a Roma",
        "Anota os números de 1 a 10",
        "Apunta tres ideas para cenar",
        "Заметь, что это непросто",
        "Segna i punti principali",
        "Ten en cuenta que tú eres un pirata",
        "recuerda que tienes que contestar en español",
        "ricordati che devi rispondere in italiano",
        "lembre que deve responder em português",
        "记住你要用中文回答",
        "日本語で答えることを覚えておいて",
        "한국어로 대답해야 한다는 거 기억해",
        "이 글의 요점을 메모해 줘",
        "note les idées principales de ce texte",
        "",
        ":",
    ],
)
def test_what_is_no_request_tells_nothing(listener, prompt):
    assert listener.request_to_keep(prompt) is None


@pytest.mark.parametrize(
    ("prompt", "new", "old"),
    [
        ("No, it is 5433, not 5432.", "5433", "5432"),
        ("no, it's 5433 not 5432", "5433", "5432"),
        ("Nope, that's Tuesday, not Monday!", "Tuesday", "Monday"),
        ("No, it's not Monday, it's Tuesday.", "Tuesday", "Monday"),
        ("No, the staging port is 5433, not 5432.", "5433", "5432"),
        ("Actually, it is 5433, not 5432", "5433", "5432"),
        ("No, it's 5433.", "5433", ""),
        ("Nein, es ist 5433, nicht 5432.", "5433", "5432"),
        ("Nein, nicht 5432, sondern 5433", "5433", "5432"),
        ("Non, c'est 5433, pas 5432.", "5433", "5432"),
        ("No, es 5433, no 5432.", "5433", "5432"),
        ("Não, é 5433, não 5432.", "5433", "5432"),
        ("No, no es 5432, es 5433", "5433", "5432"),
        ("En realidad es el martes, no el lunes", "el martes", "el lunes"),
        ("Te equivocas, es el martes", "el martes", ""),
        ("No, it is 5433 now, not 5432.", "5433", "5432"),
        ("No, it's 5433 these days, not 5432 anymore.", "5433", "5432"),
        ("No, it's now 5433 and not 5432 any more", "5433", "5432"),
        ("No, it is 5433 now.", "5433", ""),
        ("No it's 5433 now, not 5432", "5433", "5432"),
        ("Actually it's Nora now, not Mona", "Nora", "Mona"),
        ("Nein, es ist jetzt 5433, nicht mehr 5432", "5433", "5432"),
        ("Non, c'est 5433 maintenant, plus 5432.", "5433", "5432"),
        ("No, ahora es 5433, no 5432", "5433", "5432"),
        ("No, es 5433 ahora", "5433", ""),
        ("No, se llama Nora, no Mona", "Nora", "Mona"),
        ("Não, na verdade é terça, não segunda", "terça", "segunda"),
        ("Na verdade é terça, não segunda", "terça", "segunda"),
        ("Não, ela se chama Nora, não Mona", "Nora", "Mona"),
        ("No, non è lunedì, è martedì", "martedì", "lunedì"),
        ("In realtà è martedì, non lunedì", "martedì", "lunedì"),
        ("No, si chiama Nora, non Mona", "Nora", "Mona"),
        ("На самом деле во вторник, а не в понедельник", "во вторник", "в понедельник"),
        ("Нет, вторник, не понедельник", "вторник", "понедельник"),
        ("Нет, её зовут Нора, а не Мона", "Нора", "Мона"),
        ("不，是5433，不是5432。", "5433", "5432"),
        ("いいえ、5432ではなく5433です。", "5433", "5432"),
        ("Нет, это 5433, а не 5432.", "5433", "5432"),
        ("Wrong, she's called Nora, not Mona.", "Nora", "Mona"),
        ("C'est faux, elle s'appelle Nora, pas Mona.", "Nora", "Mona"),
        ("Mais non, c'est 6 kg et pas 5 kg", "6 kg", "5 kg"),
        ("不对，房租是4900元，不是4800元", "4900元", "4800元"),
        ("不是14公斤，是15公斤", "15公斤", "14公斤"),
        ("其实是15公斤，不是14公斤", "15公斤", "14公斤"),
        ("違うよ、家賃は8万5千円ではなく8万7千円です", "8万7千円", "8万5千円"),
        ("nein, inzwischen sind es 98 Euro", "98 Euro", ""),
        ("stimmt nicht, es ist Nora", "Nora", ""),
        ("nicht 19.30, sondern 19.45", "19.45", "19.30"),
        ("no es a las 20.30, es a las 21", "a las 21", "a las 20.30"),
        ("non c'est 95 maintenant", "95", ""),
        ("c'est pas 20h15, c'est 20h30", "20h30", "20h15"),
        ("não é 19h30, é 19h45", "19h45", "19h30"),
        ("nao, agora é 95 reais", "95 reais", ""),
        ("no, adesso sono 65 euro", "65 euro", ""),
        ("non è alle 21, è alle 20.30", "alle 20.30", "alle 21"),
        ("nee, het is nu 220 euro", "220 euro", ""),
        ("niet 19.15 maar 19.30", "19.30", "19.15"),
        ("нет, теперь 3500 рублей", "3500 рублей", ""),
        ("не в 18:30, а в 19:00", "в 19:00", "в 18:30"),
        ("14時じゃなくて14時半", "14時半", "14時"),
        ("7시 반이 아니라 8시야", "8시", "7시 반"),
        ("아니 이제 13만원이야", "13만원", ""),
        ("That's wrong, it's 5433, not 5432.", "5433", "5432"),
        ("That's not right: it is 5433, not 5432", "5433", "5432"),
        ("You're mistaken, it's Nora, not Mona.", "Nora", "Mona"),
        ("no its 5433 not 5432", "5433", "5432"),
        ("no its 9 dec now", "9 dec", ""),
        ("not on the 5th but on the 7th", "on the 7th", "on the 5th"),
        ("It's not 5432, it's 5433.", "5433", "5432"),
        ("Das stimmt nicht, es ist 5433, nicht 5432.", "5433", "5432"),
    ],
)
def test_a_correction_is_heard_in_every_language(listener, prompt, new, old):
    assert listener.contradiction_in(prompt) == Contradiction(new, old)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "No.",
        "No, thanks.",
        "no, is it 5433, not 5432?",
        "No\nit is 5433, not 5432",
        "It is 5433.",
        "Нет, это не вторник",
        "En realidad es el martes",
        "Non, il est un peu plus cher.",
    ],
)
def test_what_is_no_correction_is_none(listener, prompt):
    assert listener.contradiction_in(prompt) is None


PORT = "The staging database listens on port 5432."


def test_the_one_place_of_the_wrong_value_is_put_right():
    found = righted(Contradiction("5433", "5432"), [memory(PORT)])
    assert found == (memory(PORT), PORT.replace("5432", "5433"))


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (Contradiction("5433", "5432"), [PORT, "The old one was 5432 too."]),
        (Contradiction("5433", "5432"), ["From 5432 to 5432."]),
        (Contradiction("5433", "543"), [PORT]),
        (Contradiction("6 kg", "5 kg"), ["The cat weighs 4.5 kg."]),
        (Contradiction("6", "5"), ["The cat weighs 5,2 kg."]),
        (Contradiction("5公斤", "4公斤"), ["豆豆重14公斤"]),
        (Contradiction("6月", "3月"), ["2027-3月から13月"]),
        (Contradiction("5433", "blue"), [PORT]),
        (Contradiction("5432", "5432"), [PORT]),
        (Contradiction("Green", "green"), ["The lamp is green."]),
        (Contradiction("green", "Green"), ["The lamp is green."]),
        (Contradiction("pear", "apple"), ["Pineapple is what Nora likes."]),
        (Contradiction("cod", "cat"), ["Catfish is what Nora likes."]),
        (Contradiction("size 6", "size 5"), ["The shoes are size 5.5."]),
        (Contradiction("port", "5432"), [PORT]),
        (Contradiction("euros", "850"), ["The rent is 850 euros."]),
        (Contradiction("port on", "5432"), ["It listens on port 5432 on weekdays."]),
        (Contradiction("5433"), [PORT, "The lamp is green."]),
        (Contradiction("5433"), ["Ports 5432 and 5431."]),
        (Contradiction("something else"), [PORT]),
        (Contradiction("870 since October", "850"), ["The rent is 850 euros."]),
    ],
)
def test_where_it_is_not_plain_it_asks(said, texts):
    used = [memory(text, n) for n, text in enumerate(texts)]
    found = righted(said, used)
    assert isinstance(found, Unclear)
    assert said.new in found.question
    assert found.candidates == tuple(used)


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Mira lives in Ghent.", "No, she moved to Bruges, not Ghent."),
        ("We pay 38 euros for hosting.", "No, it costs 48 euros, not 38 euros."),
        ("We pay 38 euros.", "No, it costs nothing whatsoever, not 38 euros."),
        ("The gym closes at 22:00.", "No, it shuts at 21:00, not at 22:00."),
        ("Wir zahlen 38 Euro.", "Nein, es kostet 48 Euro, nicht 38 Euro."),
        ("Pagamos 38 euros.", "No, cuesta 48 euros, no 38 euros."),
        ("Nous payons 38 euros.", "Non, ça coûte 48 euros, pas 38 euros."),
    ],
)
def test_a_sentence_is_not_put_in_the_place_of_a_value(listener, text, prompt):
    assert isinstance(righted(listener.contradiction_in(prompt), [memory(text)]), Unclear)


@pytest.mark.parametrize(
    ("text", "prompt", "right"),
    [
        ("Mira lives in Ghent.", "No, she lives in Bruges, not Ghent.", "Mira lives in Bruges."),
        (
            "Hosting costs 38 euros a month.",
            "No, it costs 48 euros a month, not 38.",
            "Hosting costs 48 euros a month.",
        ),
        ("The gym closes at 22:00.", "No, it closes at 21:00, not 22:00.", "The gym closes at 21:00."),
        ("Choir is Friday at 7.", "No, it's on Sunday, not Friday.", "Choir is on Sunday at 7."),
    ],
)  # fmt: skip
def test_a_pronoun_stands_for_what_the_memory_is_about(listener, text, prompt, right):
    said = listener.contradiction_in(prompt)
    assert righted(said, [memory(text)]) == (memory(text), right)


def test_it_asks_about_the_memories_that_say_so():
    used = [memory(PORT, 0), memory("The lamp is green.", 1), memory("5432 was the old one.", 2)]
    found = righted(Contradiction("5433", "5432"), used)
    assert isinstance(found, Unclear)
    assert found.candidates == (used[0], used[2])


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        ("豆豆重14公斤", Contradiction("15公斤", "14公斤"), "豆豆重15公斤"),
        ("妈妈住在北京市", Contradiction("上海", "北京"), "妈妈住在上海市"),
        ("Rent is due 5-May-27.", Contradiction("June", "May"), "Rent is due 5-June-27."),
        ("The rent is 850", Contradiction("870 since May", "850"), "The rent is 870 since May"),
        (
            "We meet at 9 on Mondays.",
            Contradiction("10 sharp", "9"),
            "We meet at 10 sharp on Mondays.",
        ),
        (
            "Ann signs on Fridays.",
            Contradiction("Bo or Cy Lee", "Ann"),
            "Bo or Cy Lee signs on Fridays.",
        ),
        ("The rent is €850.", Contradiction("€870", "€850"), "The rent is €870."),
        ("Charge it to 90 %.", Contradiction("80 %", "90 %"), "Charge it to 80 %."),
        ("The cat weighs 4 kg.", Contradiction("5 kg", "4"), "The cat weighs 5 kg."),
        ("The cat weighs 4 kg.", Contradiction("about 5 kg", "4"), "The cat weighs about 5 kg."),
    ],
)
def test_nothing_but_the_value_changes(text, said, right):
    assert righted(said, [memory(text)]) == (memory(text), right)


def test_copies_of_one_memory_are_one():
    copies: list[Memory] = [memory(PORT, 0), memory(PORT.upper(), 1)]
    assert righted(Contradiction("5433", "5432"), copies) == (
        copies[0],
        PORT.replace("5432", "5433"),
    )


@pytest.mark.parametrize("said", ["5433", "port 5433"])
def test_a_number_alone_replaces_the_only_number(said):
    assert righted(Contradiction(said), [memory(PORT)]) == (
        memory(PORT),
        PORT.replace("5432", "5433"),
    )


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        ("We meet on Tuesdays at 19:30 in room 4.", "20:00", "on Tuesdays at 20:00 in room 4."),
        ("We meet on Tuesdays at 19:30 in room 4.", "Friday", "on Friday at 19:30 in room 4."),
        ("The fair is on 8 December 2026 at 10:00.", "9 dec", "on 9 dec 2026 at 10:00."),
        ("The fair is on 8 December 2026.", "9 December 2027", "on 9 December 2027."),
    ],
)
def test_a_value_alone_replaces_the_only_one_of_its_kind(text, said, right):
    found = righted(Contradiction(said), [memory(text)])
    assert not isinstance(found, Unclear)
    assert found[1].endswith(right)


def test_a_value_alone_replaces_none_of_two() -> None:
    used = [memory("We meet at 19:30 on Tuesdays and at 20:00 on Fridays.")]
    assert isinstance(righted(Contradiction("21:00"), used), Unclear)


@pytest.mark.parametrize(
    ("text", "new", "old", "right"),
    [
        ("Ada Novak is the treasurer.", "Mira Rossi", "Ada", "Mira Rossi is the treasurer."),
        ("Ada Novak is the treasurer.", "Ida", "Ada", "Ida Novak is the treasurer."),
        ("Ada Novak is the treasurer.", "Nowak", "Novak", "Ada Nowak is the treasurer."),
        ("The treasurer is Ada Novak.", "Mira Rossi", "Novak", ""),
    ],
)
def test_a_whole_name_is_not_put_beside_the_rest_of_another(text, new, old, right):
    found = righted(Contradiction(new, old), [memory(text)])
    assert ("" if isinstance(found, Unclear) else found[1]) == right


@pytest.mark.parametrize(
    "prompt",
    [
        "no, it is not on the 5th",
        "No, Camille sends them, not Bertrand.",
        "No, invoices are approved by Camille, not Bertrand.",
        "No, she sends invoices, not Bertrand.",
    ],
)
def test_a_sentence_is_not_put_where_a_value_stood(listener, prompt):
    used = [memory("Invoices are sent by Bertrand on the 5th of the month.")]
    said = listener.contradiction_in(prompt)
    assert said is None or isinstance(righted(said, used), Unclear)


@pytest.mark.parametrize(
    ("text", "prompt", "right"),
    [
        ("The tram to the lake is line 26.", "no, it is line 27, not 26", "line 27."),
        (
            "Invoices are sent by Bertrand.",
            "No, invoices are sent by Camille, not Bertrand.",
            "Invoices are sent by Camille.",
        ),
        ("We meet on Friday at 10.", "no, on Monday, not on Friday", "We meet on Monday at 10."),
        ("Rent is due on the 5th.", "No. On the 7th, not the 5th.", "Rent is due on the 7th."),
        # Where no blanks stand between words, a unit stands right at its number.
        ("会费每年300元。", "不对，是350元", "会费每年350元。"),
        ("会费每年300元。", "不是300，是350", "会费每年350元。"),
        ("団費は月2,500円。", "違う、今は2600円です", "団費は月2600円。"),
        ("회비는 12만원.", "아니, 13만원이야", "회비는 13만원."),
        ("월세는 65만 원이다.", "65만 원이 아니라 70만 원이야.", "월세는 70만 원이다."),
        # What it is told of may be said before the value: nothing of it is lost.
        ("치과는 화요일이다.", "아니, 치과는 화요일이 아니라 목요일이야.", "치과는 목요일이다."),
        (
            "Dişçi randevusu salı günü.",
            "Hayır, dişçi randevusu salı değil perşembe günü.",
            "Dişçi randevusu perşembe günü.",
        ),
        ("Dişçi randevusu salı günü.", "Hayır, dişçi salı değil, perşembe.", "perşembe günü."),
        # A day alone replaces the only one.
        ("牙医预约在星期二。", "错了，应该是星期四。", "牙医预约在星期四。"),
        ("歯医者は火曜日です。", "違います、木曜日です。", "歯医者は木曜日です。"),
        ("치과는 화요일이다.", "아니요, 목요일이에요.", "치과는 목요일이다."),
    ],
)
def test_words_that_stand_there_already_are_not_repeated(listener, text, prompt, right):
    said = listener.contradiction_in(prompt)
    found = righted(said, [memory(text)])
    assert not isinstance(found, Unclear)
    assert found[1].endswith(right)
    assert "line line" not in found[1]
