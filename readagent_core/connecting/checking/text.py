"""The text a model is tested on, with its gists and questions whose answers are known. Written for this project."""

from __future__ import annotations

from dataclasses import dataclass

from readagent_core.document import Document, Paragraph
from readagent_core.memory import Gist, GistMemory, Page
from readagent_core.plan import ReadingPlan
from readagent_core.words import count_words

_PAGES = (
    (
        "Ida Rusk set the last jar on the shelf and wiped her hands. The plums had taken all day, and the kitchen was "
        "hot. She counted along the shelf with one finger, twice, because the first time she had not believed it.",
        "“Forty-one,” said her brother Pell from the door. “You said forty.” “The forty-first is for you,” she said. "
        "He laughed, and took his coat off, and forgot that he had come to quarrel about the ferry.",
        "They ate it with bread, standing, and did not speak until the jar was empty. Then Pell washed the spoon, put "
        "it back in the wrong drawer, and went home along the river with his coat over his arm.",
    ),
    (
        "In March the river rose. By the second week it stood in the lower field, and the ferry was tied up with its "
        "stern among the willows. Nobody crossed. The post came round by the bridge at Oster, a day late.",
        "Ida measured the water each morning with a stick of hazel, in which she had cut a notch for every inch. On "
        "the ninth day the stick was gone. She found it a mile down, upright in the mud, as if someone had set it.",
        "She said nothing of it to Pell. She cut another notch at the height of her knee, and that evening, for the "
        "first time since their father died, she locked the door of the house.",
    ),
    (
        "A teacher from the town came to see the ferry in April. His name was Brandt, and he wore yellow gloves. He "
        "walked round the boat as one walks round a horse, and knocked on the planks, and asked what it might cost.",
        "“Six hundred,” said Ida. He laughed, and offered two hundred and fifty, and said that a bridge would be built "
        "at Marn within three years, and then she would have firewood.",
        "“Then buy firewood,” she said, and went in. From the window she watched him stand for a long time by the "
        "rope, with one glove off, feeling its strands between his fingers.",
    ),
    (
        "Ida walked down before it was light. The ferry lay on the stones with its rope trailing, and the end of the "
        "rope was clean. “A knife,” she said aloud, “and a good one.”",
        "She coiled what was left over her arm. It came to eleven turns, where there had been thirty. In the wet sand "
        "were the marks of a man's boots, going to the water and not coming back.",
        "Then she took her blanket to the boat house and lay down behind the door with the hazel stick beside her. She "
        "told nobody. She did not sleep, and toward morning she heard oars.",
    ),
    (
        "It was Pell who came up the slip, wet to the waist, with nineteen turns of rope round his neck. He sat down "
        "on the stones and looked at the door of the boat house, as though he knew that she was behind it.",
        "“I cut it,” he said. “I meant to let her drift, and have done with it. Then I was sorry, and I swam after "
        "her.” He held up his hand, which was bleeding. “I lost the knife,” he said.",
        "Ida opened the door. She looked at the rope, and at the hand, and at her brother. “Forty-one,” she said, and "
        "went up to the house, and he heard her take down a jar.",
    ),
)
_GISTS = (
    "Ida Rusk makes plum jam and has one jar beyond the number, for her brother Pell, who had come to quarrel.",
    "The river rises and the ferry is tied up. Ida's measuring stick vanishes and turns up downstream; she locks the "
    "house.",
    "Brandt, a teacher from the town, wants to buy the ferry. They disagree about the price; he feels the rope.",
    "Ida finds the ferry's rope cut. She coils it, tells nobody, and waits in the boat house until she hears oars.",
    "Pell comes out of the water and admits that he cut the rope. Ida fetches him a jar.",
)


@dataclass(frozen=True)
class Known:
    """A question whose answer is known. ``page``: where it is, 0 where the text does not have it. ``right``: index."""

    text: str
    page: int
    options: tuple[str, ...]
    right: int = 0


QUESTIONS = (
    Known("How many turns of rope did Ida coil over her arm?", 4, ("thirty", "nineteen", "eleven", "forty-one"), 2),
    Known("What did Brandt offer for the ferry?", 3, ("two hundred and fifty", "six hundred", "firewood", "nothing")),
    Known("Where did Ida find her hazel stick?", 2, ("in the boat house", "a mile down, in the mud", "at Oster"), 1),
)
UNANSWERED = Known("What was the name of Ida's mother?", 0, ("Marta", "Oster", "Ilse", "Brandt"))


PLAN = ReadingPlan(max_words=150, min_words=60)


def story() -> GistMemory:
    """Return the text in pages with its gists."""
    pages: list[Page] = []
    for number, texts in enumerate(_PAGES, start=1):
        start = (number - 1) * len(texts)
        pages.append(Page(number, start, start + len(texts), sum(map(count_words, texts))))
    paragraphs = tuple(Paragraph(text) for texts in _PAGES for text in texts)
    document = Document("The Ferry at Marn", paragraphs)
    return GistMemory(document, PLAN, tuple(pages), tuple(map(Gist, _GISTS)), complete=True)
