package dev.idempotent.sample.crash;

import dev.idempotent.sample.crash.KeyHistory.Heal;
import dev.idempotent.sample.crash.site.Journal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KeyHistoryTests {

	private static final Answer PLACED = new Answer(201, "/api/orders/one", "{}", false);

	private final Journal journal = new Journal();

	private final KeyHistory key = new KeyHistory("key");

	@Test
	void measuresTheTimeFromADeathToTheAnswer() {
		tried("shop-1/1", 1_000, 1_300, Attempt.BROKEN, null);
		this.journal.died("shop-1/1", "kill", 1_250);
		tried("shop-2/1", 1_310, 1_320, "", new Answer(503, "", "", false));
		tried("shop-2/1", 1_400, 1_450, "", PLACED);
		tried("shop-2/1", 1_500, 1_550, "", PLACED);
		assertThat(this.key.heal(this.journal)).isEqualTo(new Heal(200, true));
	}

	@Test
	void measuresFromTheBrokenConnectionIfTheDeathWasRecordedLater() {
		tried("shop-1/1", 1_000, 1_200, Attempt.BROKEN, null);
		this.journal.died("shop-1/1", "halt-after-commit", 1_250);
		tried("shop-2/1", 1_300, 1_400, "", PLACED);
		assertThat(this.key.heal(this.journal)).isEqualTo(new Heal(200, true));
	}

	@Test
	void measuresNothingAfterADeathWithoutARequest() {
		tried("shop-1/1", 1_000, 1_010, "refused", null);
		this.journal.died("shop-1/1", "kill", 990);
		tried("shop-2/1", 1_100, 1_110, Attempt.BROKEN, null);
		tried("shop-2/1", 1_200, 1_210, "", PLACED);
		this.journal.died("shop-2/1", "kill", 5_000);
		assertThat(this.key.heal(this.journal)).isNull();
	}

	@Test
	void distinguishesASingleDeathFromSeveral() {
		tried("shop-1/1", 1_000, 1_200, Attempt.BROKEN, null);
		this.journal.died("shop-1/1", "kill", 1_200);
		this.journal.died("shop-2/1", "kill", 1_250);
		tried("shop-3/1", 1_300, 1_400, "", PLACED);
		assertThat(this.key.heal(this.journal)).isEqualTo(new Heal(200, false));
	}

	@Test
	void listsEventsInTheirOrder() {
		tried("shop-1/1", 1_000, 1_200, Attempt.BROKEN, null);
		this.journal.died("shop-1/1", "kill", 1_200);
		tried("shop-2/1", 1_300, 1_400, "", PLACED);
		assertThat(this.key.describe(this.journal).lines().skip(1).map((line) -> line.substring(line.indexOf("shop"))))
			.hasSize(3)
			.satisfiesExactly((line) -> assertThat(line).endsWith("place -> broken off after 200 ms"),
					(line) -> assertThat(line).isEqualTo("shop-1/1 is gone: kill"),
					(line) -> assertThat(line).contains("place -> 201 after 100 ms"));
	}

	private void tried(String life, long sent, long ended, String trouble, @Nullable Answer answer) {
		this.key.add(new Attempt(life, "", false, sent, ended, answer, trouble));
	}

}
