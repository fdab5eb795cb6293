"""List English stopwords, abbreviations, synonyms and irregular forms."""

_ABBREVIATION_LIST = """
mr mrs ms dr st jr sr vs no vol prof gen col lt sgt capt rev hon inc ltd co corp dept est fig
op feat ft mt sq approx ca cf eg ie etc al jan feb mar apr jun jul aug sep sept oct nov dec ph d b
c p pp
"""
ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_LAST_OF_SENTENCE_LIST = """
dr st sq inc ltd co corp a.m p.m
"""
LAST_OF_SENTENCE = frozenset(_LAST_OF_SENTENCE_LIST.split())
"""Abbreviations that end the name of a street or a company, or a time: a sentence may end so."""
_BEGINNING_LIST = """
the this that these those it its he she they we his her their our there in on at but and since after
"""
BEGINNINGS = frozenset(_BEGINNING_LIST.split())
"""Words that, with a capital, begin a sentence and no name."""
_STOPWORD_LIST = """
a about after again all also am an and any are as at be because been before being both but by
can could did do does doing during each either else ever for from had has have having he her
here hers him his how i if in into is it its itself just me more most my no nor not now of off
on once one only or other our ours out over own same she should so some such than that the their
theirs them then there these they this those through to too under until up us very was we were
what when where which while who whom whose why will with would you your yours upon s t
name named called known many much however previously later originally currently several
like additionally today despite although since meanwhile following according along among another
besides together within without whether yet
"""
STOPWORDS = frozenset(_STOPWORD_LIST.split())
_FREQUENCY_LIST = """
once twice thrice daily weekly monthly yearly annually quarterly hourly every sometimes often
usually always never rarely seldom soon recently nowadays today yesterday tomorrow tonight last next
"""
FREQUENCIES = frozenset(_FREQUENCY_LIST.split())
"""Adverbs that say when or how often; at the beginning of a sentence they have a capital."""

IRREGULAR = {
    form: forms.split()[0]
    for forms in [
        "take took taken",
        "write wrote written",
        "win won",
        "lead led",
        "buy bought",
        "sell sold",
        "hold held",
        "build built",
        "run ran",
        "meet met",
        "begin began begun",
        "leave left",
        "eat ate eaten",
        "grow grew grown",
        "make made",
        "give gave given",
        "go went gone",
        "pay paid",
        "say said",
        "tell told",
        "send sent",
        "spend spent",
        "teach taught",
        "think thought",
        "bring brought",
        "catch caught",
        "choose chose chosen",
        "come came",
        "draw drew drawn",
        "drive drove driven",
        "fall fell fallen",
        "fight fought",
        "find found",
        "fly flew flown",
        "get got gotten",
        "keep kept",
        "know knew known",
        "lose lost",
        "rise rose risen",
        "see saw seen",
        "sing sang sung",
        "speak spoke spoken",
        "stand stood",
        "steal stole stolen",
        "wear wore worn",
        "break broke broken",
        "become became",
        "succeed success successor",
        "die died death",
        "person people",
        "child children",
        "man men",
        "woman women",
        "wife wives",
    ]
    for form in forms.split()
}
