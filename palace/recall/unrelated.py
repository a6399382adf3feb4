"""Sentences that have to do with no question, to tell what a cosine is worth.

Every model has its own idea of how near two texts are that share nothing but being sentences: in
one that is .05, in another .7. How much nearer than these a memory is means the same in all.
"""

UNRELATED = (
    "The ferry crosses the bay twice a day in winter.",
    "Copper conducts heat better than iron.",
    "She painted the fence green over the weekend.",
    "The committee will vote on the budget tomorrow.",
    "Two goals in the last minute decided the match.",
    "Whales sleep with one half of the brain at a time.",
    "The library closes at six on Fridays.",
    "He forgot his umbrella on the tram again.",
    "Bread dough has to rest in a warm place.",
    "The new printer refuses to talk to the network.",
    "Interest rates were left unchanged this quarter.",
    "My knee hurts when I climb stairs.",
    "The museum shows coins from the Bronze Age.",
    "Tomatoes need a lot of sun and little wind.",
    "The train was late because of snow on the tracks.",
    "They named their daughter after her grandmother.",
    "The server ran out of disk space during the night.",
    "A violin has four strings.",
    "The lawyer asked for a copy of the contract.",
    "We hiked along the ridge until it got dark.",
    "The dentist has moved to the other side of the street.",
    "Rivers carry sand and stones to the sea.",
    "Our neighbour's dog barks at the postman.",
    "The recipe calls for three eggs and a cup of sugar.",
    "The novel is set in a small harbour town.",
    "The flight lands shortly after midnight.",
    "Pupils learn to write with a pencil first.",
    "The battery lasts for about ten hours.",
    "The old bridge was closed to traffic.",
    "The band plays jazz every Thursday night.",
    "Please send the invoice to the office in town.",
    "The vaccine is given in two doses.",
)
