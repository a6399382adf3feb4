"""The names of the days of the week, whole and cut.

In: nothing. Out: what each day is called, for who reads the days of a text or the name of a note.
"""

from __future__ import annotations

WEEKDAY_NAMES = tuple(
    tuple(names.split())
    for names in (
        "monday mon montag lundi lunes segunda-feira lunedì maandag понедельник 月曜 星期一 周一"
        " 월요일 poniedziałek pazartesi",
        "tuesday tue tues dienstag mardi martes terça-feira martedì dinsdag вторник 火曜 星期二"
        " 周二 화요일 wtorek salı",
        "wednesday wed mittwoch mercredi miércoles quarta-feira mercoledì woensdag среда среду"
        " 水曜 星期三 周三 수요일 środa środę środy çarşamba",
        "thursday thu thur thurs donnerstag jeudi jueves quinta-feira giovedì donderdag четверг"
        " 木曜 星期四 周四 목요일 czwartek perşembe",
        "friday fri freitag vendredi viernes sexta-feira venerdì vrijdag пятница пятницу 金曜"
        " 星期五 周五 금요일 piątek cuma",
        "saturday sat samstag sonnabend samedi sábado sabato zaterdag суббота субботу 土曜 星期六"
        " 周六 토요일 sobota sobotę soboty cumartesi",
        "sunday sun sonntag dimanche domingo domenica zondag воскресенье 日曜 星期日 星期天 周日"
        " 일요일 niedziela niedzielę niedzieli",
    )
)
"""From Monday on. Turkish "pazar" is a market too, and the Swedish names are also Norwegian, whose
notes cut them ("man, ons og fre")."""
