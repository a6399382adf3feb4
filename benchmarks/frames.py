"""Sentences that people and programs put around a prompt and that say nothing of what it asks.

The detector is fitted on prompts in frames of its own (`benchmarks.fit_detector`); none of these is
among them. In: a prompt and its language. Out: the prompt in a frame that was never fitted on.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

UNSEEN_FRAMES: Mapping[str, Sequence[str]] = {
    "en": (
        "I need this for a report. {}",
        "I'm filling in a form. {}",
        "My colleague is on the phone. {}",
        "It's raining again. {}",
        "You will be given a request by a user.\n{}",
        "### Instruction\n{}",
        "So I was talking to my neighbour this morning. {}",
        "{} If you don't know, say so.",
        "{} My boss wants to know.",
        "{} Use metric units.",
        "{} I could not find it myself.",
        "Let's see.\n{}\nNo long explanations.",
    ),
    "de": (
        "Ich fülle gerade ein Formular aus. {}",
        "Der Kollege ist am Telefon. {}",
        "{} Mein Chef will es wissen.",
        "{} Wenn du es nicht weißt, sag es.",
    ),
    "fr": (
        "Je remplis un formulaire. {}",
        "Mon collègue est au téléphone. {}",
        "{} Ma cheffe veut le savoir.",
        "{} Si tu ne sais pas, dis-le.",
    ),
    "es": (
        "Estoy rellenando un formulario. {}",
        "Mi colega está al teléfono. {}",
        "{} Mi jefa quiere saberlo.",
        "{} Si no lo sabes, dilo.",
    ),
    "pt": (
        "Estou preenchendo um formulário. {}",
        "Meu colega está ao telefone. {}",
        "{} Minha chefe quer saber.",
        "{} Se você não souber, diga.",
    ),
    "it": (
        "Sto compilando un modulo. {}",
        "Il mio collega è al telefono. {}",
        "{} Il mio capo vuole saperlo.",
        "{} Se non lo sai, dillo.",
    ),
    "nl": (
        "Ik vul een formulier in. {}",
        "Mijn collega is aan de telefoon. {}",
        "{} Mijn baas wil het weten.",
        "{} Als je het niet weet, zeg het dan.",
    ),
    "ru": (
        "Я заполняю анкету. {}",
        "Коллега сейчас на линии. {}",
        "{} Начальник хочет знать.",
        "{} Если не знаешь, так и скажи.",
    ),
    "zh": ("我在填表。{}", "同事在等电话。{}", "{}老板想知道。", "{}不知道就直说。"),
    "ja": (
        "いま書類に記入しています。{}",
        "同僚が電話で待っています。{}",
        "{}上司が知りたがっています。",
        "{}わからなければそう言って。",
    ),
    "ko": (
        "지금 서류를 쓰는 중이야. {}",
        "동료가 전화로 기다리고 있어. {}",
        "{} 상사가 알고 싶어 해.",
        "{} 모르면 모른다고 해.",
    ),
    "pl": (
        "Wypełniam formularz. {}",
        "Kolega czeka przy telefonie. {}",
        "{} Szefowa chce wiedzieć.",
        "{} Jeśli nie wiesz, powiedz.",
    ),
    "sv": (
        "Jag fyller i en blankett. {}",
        "Kollegan är i telefon. {}",
        "{} Min chef vill veta.",
        "{} Säg till om du inte vet.",
    ),
    "tr": (
        "Bir form dolduruyorum. {}",
        "İş arkadaşım telefonda. {}",
        "{} Patronum öğrenmek istiyor.",
        "{} Bilmiyorsan söyle.",
    ),
}
_ENDS = ".!?…。！？"


def in_unseen_frame(prompt: str, language: str, rng: random.Random) -> str:
    """Return a prompt in a frame of its language; a stop is put where another sentence follows.

    Raises:
        KeyError: If there are no frames in this language.
    """
    frame = rng.choice(UNSEEN_FRAMES[language])
    said = prompt.strip()
    follows = not frame.endswith("{}") and said[-1:] not in _ENDS
    return frame.replace("{}", f"{said}." if follows else said)
