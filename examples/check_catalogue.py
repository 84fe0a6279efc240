# %% [markdown]
# # A product catalogue
#
# Which prices can be predicted for articles nobody has priced yet, and which few to price first? A shop sells garments
# in materials and sizes. Knitwear has only ever been priced in wool, trousers and shirts only in cotton and linen, so
# no price difference links the two halves of the range.

# %%
import numpy as np

from recombine.checks import check

PRICE = {"shirt": 20, "trousers": 35, "jumper": 40, "scarf": 15}
EXTRA = {"cotton": 0, "linen": 8, "wool": 12, "cashmere": 60}


def priced_articles(seed: int = 0) -> dict[str, list[object]]:
    """Prices add up garment, material and size, with a few cents of noise."""
    rng = np.random.default_rng(seed)
    halves = [(("shirt", "trousers"), ("cotton", "linen")), (("jumper", "scarf"), ("wool", "cashmere"))]
    rows = [
        (g, m, s)
        for garments, materials in halves
        for g in garments
        for m in materials
        for s in ("S", "M", "L")
        if rng.random() < 0.75
    ]
    return {
        "garment": [g for g, _, _ in rows],
        "material": [m for _, m, _ in rows],
        "size": [s for _, _, s in rows],
        "price": [PRICE[g] + EXTRA[m] + 2.0 * "SML".index(s) + float(rng.normal(scale=0.2)) for g, m, s in rows],
    }


# %% [markdown]
# The check needs the table, which columns are factors, and which is the answer.

# %%
FACTORS = ["garment", "material", "size"]
articles = priced_articles()
result = check(articles, FACTORS, target="price")
print(f"{len(articles['price'])} priced articles. Verdict: {result.verdict}. {result.sentence()}")
print(
    f"{result.counts['determined']} unpriced articles can be priced from these, "
    f"{result.counts['undetermined']} cannot, whatever the model."
)
print(f"Is price additive where we can see it? {result.additivity.words}")

# %% [markdown]
# What would settle the rest? Price it, and ask again.

# %%
for record in result.suggestions:
    print("Price next:", ", ".join(str(level) for level in record.values()))

more = {name: [*articles[name], *(record[name] for record in result.suggestions)] for name in FACTORS}
after = check(more, FACTORS)
print(f"After that: {after.verdict}.")
print(
    f"Decision: price {len(result.suggestions)} article by hand, then let the model price the other "
    f"{after.counts['determined']}."
)
