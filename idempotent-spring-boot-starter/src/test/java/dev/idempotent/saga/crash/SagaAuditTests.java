package dev.idempotent.saga.crash;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.SagaAudit.Effect;
import dev.idempotent.saga.crash.SagaClient.PlacedSaga;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the audit of a crash run finds. An effect is written as its kind, and a charge or
 * refund with its number.
 */
class SagaAuditTests {

	private static final String DONE = "order hold charge-1 notify";

	@ParameterizedTest
	@ValueSource(strings = { "", "order reject", "order hold release reject",
			"order hold charge-1 refund-1 release reject", "order hold charge-1 release refund-1 reject",
			"order hold charge-1 notify refund-1 release reject" })
	void acceptsWhatIsUndoneInReverseOrder(String effects) {
		assertThat(find("throws", SagaStatus.COMPENSATED, effects, "COMPENSATED")).isEmpty();
	}

	@Test
	void acceptsWhatIsDoneOnce() {
		assertThat(find("succeeds", SagaStatus.COMPLETED, DONE, "COMPLETED", "COMPLETED 1")).isEmpty();
	}

	@Test
	void acceptsThatARefusedFirstStepIsNotStored() {
		assertThat(find("refuses-order", null, "", "COMPENSATED")).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "order hold charge-1, notify 0 times", "order order hold charge-1 notify, order 2 times",
			"order hold hold charge-1 notify, hold 2 times", "order hold charge-1 notify release, but release" })
	void findsWhatIsNotDoneOnce(String effects, String violation) {
		assertThat(find("succeeds", SagaStatus.COMPLETED, effects, "COMPLETED 1"))
			.anySatisfy((found) -> assertThat(found).contains(violation));
	}

	@ParameterizedTest
	@CsvSource({ "order, order without reject", "order reject hold, hold without release",
			"order release reject, release without hold", "order hold reject release, undone as",
			"order charge-1 refund-2 reject, refund of another charge", "order hold release release reject, undone as",
			"order notify notify reject, notify 2 times" })
	void findsWhatIsNotUndone(String effects, String violation) {
		assertThat(find("succeeds", SagaStatus.COMPENSATED, effects, "COMPENSATED"))
			.anySatisfy((found) -> assertThat(found).contains(violation));
	}

	@Test
	void findsASagaThatDoesNotEnd() {
		assertThat(find("succeeds", SagaStatus.HALTED, "", "HALTED")).contains("still HALTED");
		assertThat(find("succeeds", SagaStatus.EXECUTING, "order reject", "COMPENSATED")).contains("still EXECUTING");
		assertThat(find("succeeds", null, "", "COMPENSATED")).contains("lost");
	}

	@Test
	void findsAWrongAnswer() {
		assertThat(find("succeeds", SagaStatus.COMPLETED, DONE)).contains("no final answer");
		assertThat(find("succeeds", SagaStatus.COMPLETED, DONE, "COMPLETED 2")).isNotEmpty();
		assertThat(find("succeeds", SagaStatus.COMPLETED, DONE, "COMPLETED 1", "COMPENSATED")).isNotEmpty();
		assertThat(find("succeeds", SagaStatus.COMPENSATED, "order reject", "COMPLETED 1")).isNotEmpty();
		assertThat(find("refuses-hold", SagaStatus.COMPLETED, DONE, "COMPLETED 1")).isNotEmpty();
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-",
			value = { "paid ACCEPTED-1 received-1, DONE, -", "paid EARLY-1 paid DUPLICATE-1 received-1, DONE, -",
					"paid EARLY-1, REFUSED, accepted but lost", "paid EARLY-1 paid ACCEPTED-1, DONE, accepted 2 times",
					"paid ACCEPTED-1 paid DUPLICATE-1 paid DIFFERENT-2, DONE, -", "paid TOO_LATE-1, REFUSED, -",
					"paid ACCEPTED-1, ACTING, -", "paid ACCEPTED-1, REFUSED, accepted but lost",
					"paid ACCEPTED-1 paid ACCEPTED-2, DONE, accepted 2 times",
					"paid TOO_LATE-1, DONE, received but not accepted",
					"paid ACCEPTED-1 received-2, DONE, received another value",
					"paid DUPLICATE-1, ACTING, is no duplicate", "paid ACCEPTED-1 paid DIFFERENT-1, DONE, is equal",
					"received-1 received-1, -, received 2 times", "told COMPENSATING-, -, -",
					"told COMPLETED-, -, told COMPLETED but COMPENSATED" })
	void comparesWhatSendersWereToldWithTheWaits(String effects, @Nullable StepState state,
			@Nullable String violation) {
		List<String> found = SagaAudit.violations(
				new PlacedSaga("any", Command.WAITS, Set.of(SagaStatus.COMPENSATED.name()), Set.of()),
				SagaStatus.COMPENSATED, Pattern.compile("([^-]+)-(\\d?) ?").matcher(effects).results().map((each) -> {
					return new Effect("any", each.group(1), each.group(2));
				}).toList(), (state != null) ? Map.of("paid", state) : Map.of());
		if (violation == null) {
			assertThat(found).isEmpty();
		}
		else {
			assertThat(found).anySatisfy((each) -> assertThat(each.replace(",", "")).contains(violation));
		}
	}

	@Test
	void findsACancelledSagaThatHasCompleted() {
		assertThat(SagaAudit.violations(new PlacedSaga("any", "succeeds", Set.of("COMPLETED"), Set.of()),
				SagaStatus.COMPLETED, List.of(new Effect("any", "told COMPENSATING", "")), Map.of()))
			.contains("cancelled, but COMPLETED");
	}

	@Test
	void findsASagaThatHasNotWaited() {
		assertThat(find(Command.WAITS, SagaStatus.COMPLETED, DONE, "COMPLETED 1"))
			.contains("completed without waiting");
		assertThat(find(Command.WAITS_IN_VAIN, SagaStatus.COMPLETED, DONE, "COMPLETED 1"))
			.contains("completed although it was refused");
	}

	private static List<String> find(String plan, @Nullable SagaStatus status, String effects, String... answers) {
		List<Effect> done = Arrays.stream(effects.split(" ")).filter((each) -> !each.isEmpty()).map((each) -> {
			int dash = each.indexOf('-');
			return (dash < 0) ? new Effect("any", each, "")
					: new Effect("any", each.substring(0, dash), each.substring(dash + 1));
		}).toList();
		return SagaAudit.violations(new PlacedSaga("any", plan, Set.of(answers), Set.of()), status, done, Map.of());
	}

}
