"""Stories that a network tells in training: whom the checker blames, and what that does to the network."""

from dataclasses import replace

import pytest
import torch

import model
from model.checker import check, first_fault
from model.checkpoint import BUNDLED, LanguageModel
from model.curriculum import Judged
from model.judged import Told, losses, priced_rewards, tell
from model.llama import Llama
from model.packing import END
from model.variety import corpus_usage, overused, usage

JUDGED = Judged(stories=12)
NOTHING_NEW = usage([("en", range(4096)), ("zh", range(4096))], 4096)  # every story holds every token


@pytest.fixture(scope="module")
def bundled() -> LanguageModel:
    lm = model.load(BUNDLED, device="cpu", dtype="float32")
    net = Llama(lm.config)
    net.load_state_dict(lm.net.state_dict())
    return LanguageModel("a copy that can be trained", lm.config, lm.tokenizer, net)


@pytest.fixture(scope="module")
def told(bundled: LanguageModel) -> list[Told]:
    # Hot, so that there are faults of many kinds.
    return tell(bundled, Judged(stories=12, temperatures=(1.2, 0.6)), seed=3)


@pytest.mark.parametrize(
    ("language", "text", "part"),
    [
        ("en", "Tom is in the park. He sings. Tom is in the barn. Lily has ball.", "Tom is in the barn."),
        ("en", "Tom is in the park. Tom is in the barn", "Tom is in the barn"),
        ("zh", "汤姆在公园里。汤姆有一个球。莉莉有那个球。", "莉莉有那个球。"),
        ("en", "Tom is in the park. He sings in the park. He sings in the park.", "He sings in the park."),
        ("en", "Tom is in the park.\nWhere is Lily? Lily is in the park.", "Where is Lily? Lily is in the park."),
        ("zh", "汤姆有一个球。\n谁有球？汤姆。\n谁有球？莉莉。", "谁有球？莉莉。"),
    ],
)
def test_the_first_fault_is_found_where_it_stands(language, text, part):
    place = first_fault(text, language)
    assert place
    assert text[slice(*place)] == part
    assert place[0] == text.rindex(part)


def test_a_text_without_faults_has_no_first_one():
    assert first_fault("Tom is in the park. He sings in the park.", "en") is None


def test_blame_falls_on_the_first_faulty_sentence_alone(bundled: LanguageModel, told: list[Told]):
    decode = bundled.tokenizer.decode
    assert {story.language for story in told} == {"en", "zh"}
    faulty = [story for story in told if not story.sound]
    assert len(faulty) >= 4
    for story in told:
        written = story.ids[story.opening :]
        ended = written[-1] == END
        text = decode(story.ids[: len(story.ids) - ended])
        assert story.sound == (not check(text, story.language, ended))
        if story.sound:
            assert story.rewards == [0.0] * len(written)
            continue
        clean = [i for i, reward in enumerate(story.rewards) if reward == 0]
        blamed = [i for i, reward in enumerate(story.rewards) if reward == -1]
        assert [*clean, *blamed] == list(range(len(story.rewards)))
        up_to = decode(story.ids[: story.opening + len(clean)])
        assert check(up_to, story.language, complete=False) == []
        through = decode([i for i in story.ids[: story.opening + len(story.rewards)] if i != END])
        assert check(through, story.language, ended or len(story.rewards) < len(written))


def test_a_fault_in_the_opening_leaves_nothing_to_blame():
    story = Told("en", 1.0, [5, 6, 7], opening=2, rewards=[])
    assert not story.sound


def written_out(net: Llama, before: Llama, told: list[Told], judged: Judged) -> float:
    """The loss, story by story and token by token, without padding."""
    ways = {(story.language, story.temperature) for story in told}
    assert len(ways) == 4
    mean = {}
    for way in ways:
        own = [story.rewards for story in told if (story.language, story.temperature) == way]
        mean[way] = sum(map(sum, own)) / sum(map(len, own))
    total, count = 0.0, 0
    for story in told:
        ids = torch.tensor([story.ids])
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            new, old = (of(ids[:, :-1])[0].double() for of in (net, before))
        for i, reward in enumerate(story.rewards, start=story.opening):
            p, q = (old[i - 1] / judged.likeness_temperature).softmax(-1), new[i - 1].softmax(-1)
            total += judged.likeness * float((p * (p / q).log()).sum())
            if story.ids[i] != END:
                hot = torch.cat([new[i - 1][:END], new[i - 1][END + 1 :]]) / story.temperature
                chosen = new[i - 1][story.ids[i]] / story.temperature
                total -= (
                    judged.weight
                    * (reward - mean[story.language, story.temperature])
                    * float(chosen - hot.logsumexp(-1))
                )
            count += 1
    return total / count


def test_the_loss_is_the_one_written_out(bundled: LanguageModel, told: list[Told]):
    other = Llama(bundled.config)
    other.load_state_dict(bundled.net.state_dict())
    with torch.no_grad():
        for weight in other.parameters():
            weight.mul_(1.01)
    for judged in (JUDGED, replace(JUDGED, likeness=1.0, likeness_temperature=0.7)):
        total = sum(float(part.detach()) for part in losses(bundled.net, other, told, judged, NOTHING_NEW))
        assert total == pytest.approx(written_out(bundled.net, other, told, judged), rel=0.05)


def test_a_step_makes_the_blamed_less_probable_and_leaves_the_end_alone(bundled: LanguageModel, told: list[Told]):
    net = Llama(bundled.config)
    net.load_state_dict(bundled.net.state_dict())
    blamed = next(story for story in told if not story.sound)

    def probability() -> float:
        """Of the sentence that is blamed, as its logarithm."""
        with torch.no_grad():
            logs = net(torch.tensor([blamed.ids[:-1]]))[0].log_softmax(-1)
        first, last = blamed.opening + blamed.rewards.index(-1), blamed.opening + len(blamed.rewards)
        return sum(float(logs[i - 1, blamed.ids[i]]) for i in range(first, last))

    was = probability()
    for part in losses(net, bundled.net, told, JUDGED, NOTHING_NEW):
        part.backward()
    gradient = net.embed.weight.grad
    assert gradient is not None
    # END is never read here, so its row is its logit's alone; the divergence of two equal networks has no slope.
    assert float(gradient[END].abs().max()) < 1e-3 * float(gradient.abs().max())
    with torch.no_grad():
        for weight in net.parameters():
            assert weight.grad is not None
            weight -= 0.01 * weight.grad
    assert probability() < was - 0.1


def test_usage_is_the_share_of_stories_that_hold_a_token():
    told = usage([("en", [1, 2, 2]), ("en", [2, 3]), ("zh", [1])], 5)
    assert told["en"].tolist() == [[0, 0.5, 1, 0.5, 0]]
    assert told["zh"].tolist() == [[0, 1, 0, 0, 0]]
    usual = usage([("en", [1]), ("zh", [1, 4])], 5)
    assert overused(told, usual)["en"].tolist() == [[0, 0, 1, 0.5, 0]]
    assert overused(told, usual)["zh"].tolist() == [[0, 0, 0, 0, 0]]
    twice = usage([("en", [1, 2, 2]), ("en", [2, 3])], 5, times=2)
    assert twice["en"].tolist() == [[0, 0.5, 1, 0.5, 0], [0, 0, 0.5, 0, 0]]


def test_the_corpus_tells_seldom_of_hunger(bundled: LanguageModel):
    usual = corpus_usage(bundled.tokenizer, bundled.config.vocab_size)
    (hungry,) = bundled.tokenizer.encode(" hungry")
    (full_stop,) = bundled.tokenizer.encode(".")
    assert 0.02 < float(usual["en"][0, hungry]) < 0.3
    assert float(usual["en"][0, full_stop]) > 0.99
    assert float(usual["zh"][0, hungry]) < 0.02


def test_what_every_story_tells_and_the_corpus_does_not_becomes_less_probable(bundled: LanguageModel):
    net = Llama(bundled.config)
    net.load_state_dict(bundled.net.state_dict())
    encode = bundled.tokenizer.encode
    opening = encode("Tom is in the kitchen.")
    told = [
        Told("en", 1.0, opening + new, len(opening), [0.0] * len(new))
        for new in (encode(" He is hungry."), encode(" He is hungry."), encode(" He has a ball."), encode(" He sings."))
    ]
    usual = corpus_usage(bundled.tokenizer, bundled.config.vocab_size)

    def probability(new: str) -> float:
        ids = opening + encode(new)
        with torch.no_grad():
            return float(net(torch.tensor([ids]))[0, -2].softmax(-1)[ids[-1]])

    was = probability(" He is hungry")
    for part in losses(net, bundled.net, told, Judged(variety=1.0), usual):
        part.backward()
    with torch.no_grad():
        for weight in net.parameters():
            assert weight.grad is not None
            weight -= 0.02 * weight.grad
    assert probability(" He is hungry") < 0.9 * was


def test_what_stories_tell_more_often_than_those_of_the_corpus_costs_each_time(bundled: LanguageModel):
    """Every story of the corpus holds the token once; these hold it three times, one of them in the opening."""
    token = 900
    told = [Told("en", 1.0, [token, token, 5, token], 1, [0.0] * 3)]
    usual = usage([("en", [token, 5])], 4096, times=2)
    (row,) = priced_rewards(told, Judged(variety=0.5, occurrences=2), usual)
    assert row == [-0.5, 0.0, 0.0]  # the second time costs, the third is not looked at
    (row,) = priced_rewards(told, Judged(variety=0.5, occurrences=3), usage([("en", [token, 5])], 4096, times=3))
    assert row == [-0.5, 0.0, -0.5]


def test_one_sound_story_can_stand_for_several(bundled: LanguageModel):
    """The same sound story twice and a faulty one: with one in two counted, the loss stays what it was."""
    encode = bundled.tokenizer.encode
    opening = encode("Tom is in the park.")
    kept = encode(" He sings in the park.")
    sound = Told("en", 1.0, opening + kept, len(opening), [0.0] * len(kept))
    lost = encode(" Tom is in the barn.")
    faulty = Told("en", 1.0, opening + lost, len(opening), [-1.0] * len(lost))
    other = Llama(bundled.config)
    other.load_state_dict(bundled.net.state_dict())
    with torch.no_grad():
        for weight in other.parameters():
            weight.mul_(1.02)
    whole, half = (
        sum(
            float(part.detach())
            for part in losses(bundled.net, other, [sound, sound, faulty], Judged(sound_each=each), NOTHING_NEW)
        )
        for each in (1, 2)
    )
    assert half == pytest.approx(whole, rel=0.01)
