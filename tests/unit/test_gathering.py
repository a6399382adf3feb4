"""Questions for all of a sort, in every language: which they are, and what they are answered with."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from palace import ConversationTurn, Mempalace, Message, RetrievalEnforcer, Turn, Verdict
from palace.enforce.prompt import grounded_prompt
from palace.recall.lexicon import DEFAULT_LANGUAGES
from palace.text.moments import today_here
from palace.types.query import Gathering

TODAY = today_here()
TALK = (Message("user", "What is a kettle?"), Message("assistant", "A pot for water."))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mempalace]:
    with Mempalace.open(tmp_path_factory.mktemp("empty")) as palace:
        yield palace


def asked(palace: Mempalace, prompt: str, *history: Message) -> Gathering | None:
    return palace.analyse(Turn(prompt, history=history)).gathers


@pytest.mark.parametrize(
    ("language", "sort", "prompt"),
    [
        ("en", "last_talk", "What did we talk about last time?"),
        ("en", "last_talk", "What did we discuss in our last conversation?"),
        ("en", "last_talk", "What did we last talk about?"),
        ("en", "last_talk", "Can you tell me what we did in our last session?"),
        ("en", "last_talk", "Summarize our last session"),
        ("en", "last_talk", "Do you remember our last conversation?"),
        ("en", "last_talk", "Where did we leave off?"),
        ("en", "last_talk", "What were we working on?"),
        ("en", "open_tasks", "What are my open todos?"),
        ("en", "open_tasks", "What's on my to-do list?"),
        ("en", "open_tasks", "What tasks are open?"),
        ("en", "open_tasks", "Any open tasks?"),
        ("en", "open_tasks", "Remind me what's on my list."),
        ("en", "open_tasks", "Ok then, what are my open tasks?"),
        ("en", "last_talk", "So, and where did we leave off?"),
        ("de", "last_talk", "Und wo waren wir stehen geblieben?"),
        ("ja", "of_asker", "じゃあ、私について何を知っていますか？"),
        ("zh", "open_tasks", "那我还有哪些任务没完成？"),
        ("en", "open_tasks", "What's still open?"),
        ("en", "open_tasks", "What do I still have to do?"),
        ("en", "told", "What did I tell you yesterday?"),
        ("en", "told", "What did I ask you to remember this week?"),
        ("en", "told", "What did you learn two weeks ago?"),
        ("en", "told", "What have you stored?"),
        ("en", "told", "What do you remember?"),
        ("en", "told", "List everything you remember."),
        ("en", "told", "What's in your memory?"),
        ("de", "told", "Woran erinnerst du dich?"),
        ("fr", "told", "De quoi te souviens-tu ?"),
        ("es", "told", "¿Qué recuerdas?"),
        ("pt", "told", "O que você lembra?"),
        ("it", "told", "Cosa ricordi?"),
        ("nl", "told", "Wat herinner je je?"),
        ("pl", "told", "Co pamiętasz?"),
        ("sv", "told", "Vad minns du?"),
        ("tr", "told", "Ne hatırlıyorsun?"),
        ("ru", "told", "Что ты помнишь?"),
        ("zh", "told", "你记得什么？"),
        ("ja", "told", "何を覚えていますか？"),
        ("ko", "told", "뭘 기억해?"),
        ("en", "of_asker", "What do you know about me?"),
        ("en", "of_asker", "Tell me everything you know about me."),
        ("en", "of_asker", "What did you learn about me this week?"),
        ("en", "of_asker", "Do you know anything about me?"),
        ("de", "last_talk", "Was haben wir letztes Mal besprochen?"),
        ("de", "last_talk", "Worüber haben wir beim letzten Mal gesprochen?"),
        ("de", "last_talk", "Fass unser letztes Gespräch zusammen."),
        ("de", "last_talk", "Wo sind wir stehen geblieben?"),
        ("de", "open_tasks", "Was sind meine offenen Aufgaben?"),
        ("de", "open_tasks", "Welche Aufgaben sind noch offen?"),
        ("de", "open_tasks", "Was habe ich noch zu tun?"),
        ("de", "open_tasks", "Was ist noch offen?"),
        ("de", "told", "Was habe ich dir gestern gesagt?"),
        ("de", "told", "Was hast du diese Woche gelernt?"),
        ("de", "told", "Was hast du dir vor drei Tagen gemerkt?"),
        ("de", "of_asker", "Was weißt du über mich?"),
        ("de", "of_asker", "Was hast du über mich gelernt?"),
        ("fr", "last_talk", "De quoi avons-nous parlé la dernière fois ?"),
        ("fr", "last_talk", "Qu'est-ce qu'on a décidé la dernière fois ?"),
        ("fr", "last_talk", "Résume notre dernière conversation."),
        ("fr", "last_talk", "Où en étions-nous ?"),
        ("fr", "open_tasks", "Quelles sont mes tâches ouvertes ?"),
        ("fr", "open_tasks", "Qu'est-ce qu'il me reste à faire ?"),
        ("fr", "open_tasks", "Quelles tâches sont encore ouvertes ?"),
        ("fr", "told", "Qu'est-ce que je t'ai dit hier ?"),
        ("fr", "told", "Qu'as-tu appris cette semaine ?"),
        ("fr", "of_asker", "Que sais-tu de moi ?"),
        ("fr", "of_asker", "Qu'est-ce que tu sais sur moi ?"),
        ("es", "last_talk", "¿De qué hablamos la última vez?"),
        ("es", "last_talk", "¿Qué decidimos en nuestra última sesión?"),
        ("es", "last_talk", "¿Dónde lo dejamos?"),
        ("es", "open_tasks", "¿Cuáles son mis tareas pendientes?"),
        ("es", "open_tasks", "¿Qué me queda por hacer?"),
        ("es", "open_tasks", "¿Qué tareas están pendientes?"),
        ("es", "open_tasks", "¿Qué tengo pendiente?"),
        ("es", "told", "¿Qué te dije ayer?"),
        ("es", "told", "¿Qué has aprendido esta semana?"),
        ("es", "told", "¿Qué te pedí que recordaras hace dos días?"),
        ("es", "of_asker", "¿Qué sabes de mí?"),
        ("pt", "last_talk", "De que falamos da última vez?"),
        ("pt", "last_talk", "O que decidimos na última conversa?"),
        ("pt", "last_talk", "Onde paramos?"),
        ("pt", "open_tasks", "Quais são as minhas tarefas pendentes?"),
        ("pt", "open_tasks", "O que falta fazer?"),
        ("pt", "open_tasks", "O que ainda tenho que fazer?"),
        ("pt", "told", "O que te disse ontem?"),
        ("pt", "told", "O que você aprendeu esta semana?"),
        ("pt", "told", "O que eu te disse há três dias?"),
        ("pt", "of_asker", "O que sabes sobre mim?"),
        ("pt", "of_asker", "O que você sabe de mim?"),
        ("it", "last_talk", "Di cosa abbiamo parlato l'ultima volta?"),
        ("it", "last_talk", "Che cosa abbiamo deciso nell'ultima conversazione?"),
        ("it", "last_talk", "Dove eravamo rimasti?"),
        ("it", "open_tasks", "Quali compiti sono ancora aperti?"),
        ("it", "open_tasks", "Cosa mi resta da fare?"),
        ("it", "open_tasks", "Cosa devo ancora fare?"),
        ("it", "told", "Cosa ti ho detto ieri?"),
        ("it", "told", "Che cosa hai imparato questa settimana?"),
        ("it", "told", "Cosa ti ho detto tre giorni fa?"),
        ("it", "of_asker", "Cosa sai di me?"),
        ("nl", "last_talk", "Waar hebben we het vorige keer over gehad?"),
        ("nl", "last_talk", "Wat hebben we de vorige keer besproken?"),
        ("nl", "last_talk", "Waar waren we gebleven?"),
        ("nl", "open_tasks", "Welke taken staan nog open?"),
        ("nl", "open_tasks", "Wat zijn mijn openstaande taken?"),
        ("nl", "open_tasks", "Wat moet ik nog doen?"),
        ("nl", "told", "Wat heb ik je gisteren verteld?"),
        ("nl", "told", "Wat heb je deze week geleerd?"),
        ("nl", "told", "Wat heb ik je drie dagen geleden verteld?"),
        ("nl", "of_asker", "Wat weet je over mij?"),
        ("pl", "last_talk", "O czym rozmawialiśmy ostatnim razem?"),
        ("pl", "last_talk", "Co ustaliliśmy ostatnio?"),
        ("pl", "last_talk", "Na czym skończyliśmy?"),
        ("pl", "open_tasks", "Jakie zadania są jeszcze otwarte?"),
        ("pl", "open_tasks", "Co mam jeszcze do zrobienia?"),
        ("pl", "open_tasks", "Co mi zostało do zrobienia?"),
        ("pl", "told", "Co ci wczoraj powiedziałem?"),
        ("pl", "told", "Czego się nauczyłeś w tym tygodniu?"),
        ("pl", "told", "Co ci powiedziałam trzy dni temu?"),
        ("pl", "of_asker", "Co o mnie wiesz?"),
        ("sv", "last_talk", "Vad pratade vi om förra gången?"),
        ("sv", "last_talk", "Vad bestämde vi sist?"),
        ("sv", "last_talk", "Var slutade vi?"),
        ("sv", "open_tasks", "Vilka uppgifter är fortfarande öppna?"),
        ("sv", "open_tasks", "Vad har jag kvar att göra?"),
        ("sv", "open_tasks", "Vad återstår att göra?"),
        ("sv", "told", "Vad sa jag till dig igår?"),
        ("sv", "told", "Vad har du lärt dig den här veckan?"),
        ("sv", "told", "Vad sa jag till dig för tre dagar sedan?"),
        ("sv", "of_asker", "Vad vet du om mig?"),
        ("tr", "last_talk", "Geçen sefer ne konuştuk?"),
        ("tr", "last_talk", "Son görüşmemizde ne kararlaştırdık?"),
        ("tr", "last_talk", "Nerede kalmıştık?"),
        ("tr", "open_tasks", "Açık görevlerim neler?"),
        ("tr", "open_tasks", "Hangi görevler hâlâ açık?"),
        ("tr", "open_tasks", "Yapılacak ne kaldı?"),
        ("tr", "told", "Dün sana ne söyledim?"),
        ("tr", "told", "Bu hafta ne öğrendin?"),
        ("tr", "of_asker", "Benim hakkımda ne biliyorsun?"),
        ("ru", "last_talk", "О чём мы говорили в прошлый раз?"),
        ("ru", "last_talk", "Что мы решили в последней беседе?"),
        ("ru", "last_talk", "На чём мы остановились?"),
        ("ru", "open_tasks", "Какие у меня открытые задачи?"),
        ("ru", "open_tasks", "Что мне осталось сделать?"),
        ("ru", "open_tasks", "Какие задачи ещё открыты?"),
        ("ru", "told", "Что я тебе вчера говорил?"),
        ("ru", "told", "Что ты узнал на этой неделе?"),
        ("ru", "told", "Что я говорила тебе три дня назад?"),
        ("ru", "of_asker", "Что ты обо мне знаешь?"),
        ("ru", "of_asker", "Что ты знаешь обо мне?"),
        ("zh", "last_talk", "我们上次聊了什么？"),
        ("zh", "last_talk", "上次对话我们决定了什么？"),
        ("zh", "last_talk", "我们上次说到哪了？"),
        ("zh", "open_tasks", "我还有哪些任务没完成？"),
        ("zh", "open_tasks", "还有什么没做？"),
        ("zh", "open_tasks", "我的待办事项有哪些？"),
        ("zh", "told", "我昨天告诉你什么了？"),
        ("zh", "told", "你这周学到了什么？"),
        ("zh", "told", "我三天前告诉了你什么？"),
        ("zh", "of_asker", "你知道关于我的什么？"),
        ("zh", "of_asker", "关于我，你知道什么？"),
        ("ja", "last_talk", "前回何を話しましたか？"),
        ("ja", "last_talk", "前回の会話で何を決めましたか？"),
        ("ja", "last_talk", "前回はどこまで話しましたっけ？"),
        ("ja", "open_tasks", "未完了のタスクは何ですか？"),
        ("ja", "open_tasks", "まだ何が残っていますか？"),
        ("ja", "open_tasks", "私のやることリストを見せて"),
        ("ja", "told", "昨日あなたに何を話しましたか？"),
        ("ja", "told", "今週何を覚えましたか？"),
        ("ja", "told", "三日前にあなたに何を言いましたか？"),
        ("ja", "of_asker", "私について何を知っていますか？"),
        ("ko", "last_talk", "지난번에 무슨 이야기를 했지?"),
        ("ko", "last_talk", "우리 지난번에 뭘 결정했지?"),
        ("ko", "last_talk", "어디까지 했지?"),
        ("ko", "open_tasks", "남은 할 일이 뭐야?"),
        ("ko", "open_tasks", "내 할 일 목록 보여줘"),
        ("ko", "open_tasks", "아직 뭐가 남았지?"),
        ("ko", "told", "어제 내가 너한테 뭐라고 했지?"),
        ("ko", "told", "이번 주에 뭘 배웠어?"),
        ("ko", "told", "사흘 전에 내가 너한테 뭐라고 했지?"),
        ("ko", "of_asker", "나에 대해 뭘 알고 있어?"),
    ],
)
def test_what_is_asked_for_as_a_whole(
    empty: Mempalace, language: str, sort: str, prompt: str
) -> None:
    assert language in DEFAULT_LANGUAGES
    found = asked(empty, prompt)
    assert found is not None
    assert found.sort == sort


@pytest.mark.parametrize(
    "prompt",
    [
        "What did we decide about the roof last time?",
        "What did I tell you about the boiler yesterday?",
        "What do you know about me and Ruth?",
        "What is open on Sundays?",
        "What are my tasks as a juror?",
        "Which tasks are open source?",
        "What was left to the museum?",
        "What did you learn at school?",
        "Where did we leave the ladder?",
        "Sort my tasks by date.",
        "What did we do last time the boiler failed?",
        "Was ist sonntags offen?",
        "Que sais-tu de Paris ?",
        "¿Qué sabes de Miguel?",
        "你知道我的密码是什么吗？",
    ],
)
def test_what_asks_for_something_of_it(empty: Mempalace, prompt: str) -> None:
    assert asked(empty, prompt) is None


@pytest.mark.parametrize(
    ("prompt", "since", "until"),
    [
        ("What did I tell you today?", 0, 1),
        ("What did I tell you yesterday?", -1, 0),
        ("What did I tell you three days ago?", -3, -2),
        ("Was habe ich dir vor drei Tagen gesagt?", -3, -2),
    ],
)
def test_days_of_what_was_told(empty: Mempalace, prompt: str, since: int, until: int) -> None:
    days = TODAY + timedelta(days=since), TODAY + timedelta(days=until)
    assert asked(empty, prompt) == Gathering("told", *days)


def test_behind_other_turns_it_is_the_conversation_that_is_meant(empty: Mempalace) -> None:
    for prompt in ("Where were we?", "What is left to do?", "What did I tell you?"):
        assert asked(empty, prompt) is not None
        assert asked(empty, prompt, *TALK) is None
    for prompt in ("What did we do last time?", "What are my open tasks?"):
        assert asked(empty, prompt, *TALK) is not None


def on(day: date, hour: int = 12) -> datetime:
    return datetime(day.year, day.month, day.day, hour).astimezone().astimezone(timezone.utc)


def written(text: str, number: int, day: date, *, kind: str = "fact", more: str = "") -> str:
    moment = on(day).isoformat().replace("+00:00", "Z")
    fields = f"id=m-{number:026d} kind={kind} source=user created={moment}{more}"
    return f"- {text}\n  <!-- memory {fields} -->\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RetrievalEnforcer]:
    root: Path = tmp_path_factory.mktemp("told")
    house = root / "rooms" / "house"
    house.mkdir(parents=True)
    (house / "todo.md").write_text(
        "- [ ] Call the roofer about the gutter\n- [x] Pay the water bill\n"
        "- Bathroom\n  - [x] measure\n  - [ ] buy tiles\n- Write [ ] for what is open.\n"
        "- TODO: sweep the chimney\n- TODOs are written in capitals.\n",
        "utf-8",
    )
    day = timedelta(days=1)
    (root / "rooms" / "diary").mkdir()
    (root / "rooms" / "diary" / f"{TODAY - timedelta(days=1)}.md").write_text("I saw Ruth.\n")
    (house / "told.md").write_text(
        written("The spare key is under the third pot.", 1, TODAY - day)
        + written("I live in Bergen.", 2, TODAY - 3 * day)
        + written("The user plays the oboe.", 3, TODAY - 400 * day)
        + written("Prefers metric units.", 4, TODAY, kind="preference")
        + written("The key of project two.", 5, TODAY - day, more=" scope=project:two"),
        "utf-8",
    )
    with Mempalace.open(root) as palace:
        for session, ago, said in (
            ("old", 9, "I decided to take the night train to Porto."),
            ("new", 2, "We decided to keep the old addresses of the blog."),
            ("now", 0, "I decided to paint the fence green."),
        ):
            at = on(TODAY - ago * day)
            palace.compress_if_needed([Message("user", said, at=at)] * 2, session, force=True)
        yield RetrievalEnforcer(palace)


def texts(verdict: Verdict) -> list[str]:
    return [" ".join(item.text.split()) for item in verdict.evidence]


def test_open_tasks_are_what_has_an_empty_box_or_says_so(told: RetrievalEnforcer) -> None:
    verdict = told.decide("What are my open tasks?")
    assert (verdict.action, verdict.outcome, verdict.layer) == ("ground", "hit", "L1")
    assert texts(verdict) == [
        "[ ] Call the roofer about the gutter",
        "Bathroom - [x] measure - [ ] buy tiles",
        "TODO: sweep the chimney",
    ]
    assert verdict.signal.several


def test_a_prompt_that_hardly_sounds_like_recall_is_answered_where_there_is_something(
    told: RetrievalEnforcer, empty: Mempalace
) -> None:
    assert told.decide("Show open tasks").action == "ground"
    assert RetrievalEnforcer(empty).decide("Show open tasks").action == "pass"


def test_none_of_what_is_open_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "rooms" / "house").mkdir(parents=True)
    tasks = "".join(f"- [ ] task number {number}\n" for number in range(30))
    (tmp_path / "rooms" / "house" / "todo.md").write_text(tasks, "utf-8")
    with Mempalace.open(tmp_path) as palace:
        verdict = RetrievalEnforcer(palace).decide("What are my open tasks?")
        assert len(verdict.evidence) == 30
        assert verdict.walk[1].reason == "all tasks that are open"
        assert "task number 29" in grounded_prompt("What are my open tasks?", verdict)


def test_what_was_told_is_that_of_its_day_and_of_the_project(told: RetrievalEnforcer) -> None:
    prompt = "What did I tell you yesterday?"
    assert texts(told.decide(prompt)) == ["The spare key is under the third pot."]
    both = texts(told.decide(Turn(prompt, project="two")))
    assert sorted(both) == ["The key of project two.", "The spare key is under the third pot."]
    assert told.decide("What did I tell you four days ago?").outcome == "nothing_stored"


def test_who_asks_is_told_of_by_likes_and_by_himself(told: RetrievalEnforcer) -> None:
    verdict = told.decide("What do you know about me?")
    assert texts(verdict) == [
        "Prefers metric units.",
        "I live in Bergen.",
        "The user plays the oboe.",
    ]


def test_who_asks_is_told_of_by_what_he_said_in_conversations(tmp_path: Path) -> None:
    said = [
        ("user", "My doctor told me to eat less salt."),
        ("assistant", "I can suggest recipes."),
        ("user", "I made the soup, was it right?"),
        ("Mira", "I live in Oslo."),
    ]
    with Mempalace.open(tmp_path) as palace:
        palace.import_turns(
            ConversationTurn(session="s", speaker=speaker, text=text, at=on(TODAY, number))
            for number, (speaker, text) in enumerate(said)
        )
        verdict = RetrievalEnforcer(palace).decide("What do you know about me?")
        assert texts(verdict) == ["user: My doctor told me to eat less salt."]


def test_the_last_conversation_is_another_than_this_one(told: RetrievalEnforcer) -> None:
    (blog,) = texts(told.decide(Turn("What did we talk about last time?", session_id="now")))
    assert "addresses of the blog" in blog
    (fence,) = texts(told.decide(Turn("What did we talk about last time?", session_id="next")))
    assert "fence green" in fence


def test_what_happened_since_then_belongs_to_it(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        at = on(TODAY - timedelta(days=2))
        said = Message("user", "We decided to keep the addresses of the blog.", at=at)
        palace.compress_if_needed([said] * 2, "blog", force=True)
        palace.finish_task("Move the wiki", decisions=["The old links stay."])
        verdict = RetrievalEnforcer(palace).decide("What were we working on?")
        assert [e.text.split(":")[0] for e in verdict.evidence] == ["Summary", "Task"]


def test_the_only_conversation_is_its_own_last(tmp_path: Path) -> None:
    with Mempalace.open(tmp_path) as palace:
        said = Message("user", "We decided to keep the addresses of the blog.", at=on(TODAY))
        palace.compress_if_needed([said] * 2, "only", force=True)
        enforcer = RetrievalEnforcer(palace)
        verdict = enforcer.decide(Turn("What did we decide last time?", session_id="only"))
        assert "addresses of the blog" in verdict.evidence[0].text


def test_what_nothing_is_known_of_is_looked_for_as_ever(empty: Mempalace) -> None:
    verdict = RetrievalEnforcer(empty).decide("What did we talk about last time?")
    assert (verdict.action, verdict.outcome) == ("fallback", "nothing_stored")
