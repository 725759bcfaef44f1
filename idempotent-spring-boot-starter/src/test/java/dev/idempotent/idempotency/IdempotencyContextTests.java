package dev.idempotent.idempotency;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link IdempotencyContext} and the keys that it derives.
 */
class IdempotencyContextTests {

	private static final String TARGET = "gateway";

	private static final String CALL = "POST /charges";

	private final IdempotencyKey key = Samples.key();

	private final Fingerprint request = Samples.fingerprint("one");

	private final Fingerprint other = Samples.fingerprint("two");

	private final IdempotencyContext context = new IdempotencyContext(this.key, "token");

	@AfterEach
	void unbind() {
		IdempotencyContext.bind(null);
	}

	@Test
	void isBoundToAThreadTogetherWithTheLoggingContext() {
		assertThat(IdempotencyContext.current()).isNull();
		assertThat(IdempotencyContext.bind(this.context)).isNull();
		assertThat(IdempotencyContext.current()).isSameAs(this.context);
		assertThat(MDC.get("idempotency")).isEqualTo(this.key.digest());
		assertThat(IdempotencyContext.bind(null)).isSameAs(this.context);
		assertThat(IdempotencyContext.current()).isNull();
		assertThat(MDC.get("idempotency")).isNull();
	}

	@Test
	void derivesTheSameKeysInAnotherRunOfTheSameKey() {
		IdempotencyContext again = new IdempotencyContext(this.key, "another token");
		assertThat(derive(TARGET, CALL, this.request)).isEqualTo(again.derive(TARGET, CALL, this.request).key());
		assertThat(derive(TARGET, CALL, this.other)).isEqualTo(again.derive(TARGET, CALL, this.other).key());
	}

	@Test
	void derivesDifferentKeysFromDifferentKeysTargetsAndCalls() {
		IdempotencyContext stranger = new IdempotencyContext(Samples.key(), "token");
		assertThat(new String[] { derive(TARGET, CALL, this.request), derive(TARGET, CALL, this.request),
				derive(TARGET, CALL, this.other), derive(TARGET, "POST /refunds", this.request),
				derive("bank", CALL, this.request), stranger.derive(TARGET, CALL, this.request).key(),
				this.key.digest() })
			.doesNotHaveDuplicates();
	}

	@Test
	void derivesOneKeyForAllAttemptsAtACall() {
		CallAttempt first = this.context.derive(TARGET, CALL, this.request);
		first.markUnanswered();
		CallAttempt second = this.context.derive(TARGET, CALL, this.request);
		second.markUnanswered();
		assertThat(second.key()).isEqualTo(first.key());
		assertThat(derive(TARGET, CALL, this.request)).isEqualTo(first.key());
		assertThat(derive(TARGET, CALL, this.request)).isNotEqualTo(first.key());
	}

	@Test
	void treatsAnotherRequestAsNoRetry() {
		CallAttempt first = this.context.derive(TARGET, CALL, this.request);
		first.markUnanswered();
		assertThat(derive(TARGET, CALL, this.other)).isNotEqualTo(first.key());
		assertThat(derive(TARGET, CALL, this.request)).isEqualTo(first.key());
	}

	@Test
	void retriesCallsInTheirOrder() {
		CallAttempt first = this.context.derive(TARGET, CALL, this.request);
		CallAttempt second = this.context.derive(TARGET, CALL, this.request);
		second.markUnanswered();
		first.markUnanswered();
		assertThat(derive(TARGET, CALL, this.request)).isEqualTo(first.key());
		assertThat(derive(TARGET, CALL, this.request)).isEqualTo(second.key());
	}

	@Test
	void givesASingleCallAndItsRetriesTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		CallAttempt first = single.derive(TARGET, CALL, this.request);
		first.markUnanswered();
		assertThat(first.key()).isEqualTo(this.key.digest());
		assertThat(single.derive(TARGET, CALL, this.request).key()).isEqualTo(this.key.digest());
		assertThat(single.calls()).isEqualTo(new Calls(1, 1, 2, 1, null));
	}

	@Test
	void refusesASecondCallUnderTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		single.derive(TARGET, CALL, this.request).markUnanswered();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, CALL, this.other))
			.withMessageContaining("a single call")
			.withMessageNotContainingAny(TARGET, CALL, this.key.digest());
		single.derive(TARGET, CALL, this.request).markDone();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, CALL, this.request));
		assertThat(single.calls()).isEqualTo(new Calls(1, 3, 2, 0, null));
	}

	@Test
	void countsDifferentCallsAndTheirOutcomes() {
		assertThat(this.context.calls()).isEqualTo(new Calls(0, 0, 0, 0, null));
		this.context.derive(TARGET, CALL, this.request).markUnanswered();
		assertThat(this.context.calls()).isEqualTo(new Calls(1, 1, 1, 1, null));
		this.context.derive(TARGET, CALL, this.request).markDone();
		assertThat(this.context.calls()).isEqualTo(new Calls(1, 1, 2, 0, null));
		CallAttempt refused = this.context.derive(TARGET, CALL, this.request);
		refused.markAnswered(new Answer(404, false));
		assertThat(this.context.calls()).isEqualTo(new Calls(2, 2, 3, 1, new Answer(404, false)));
	}

	/**
	 * Until the call is repeated.
	 */
	@Test
	void remembersAResponseThatIsNamedWhateverIsCalledNext() {
		Answer named = new Answer(200, false, Evidence.NONE, false, null, false, true);
		CallAttempt declined = this.context.derive(TARGET, CALL, this.request);
		declined.markAnswered(named);
		declined.markUnanswered();
		this.context.observeSafe(this.other).markAnswered(new Answer(200, false));
		assertThat(this.context.namedAnswer()).isEqualTo(named);
		this.context.derive(TARGET, CALL, this.request).markAnswered(new Answer(200, false));
		assertThat(this.context.namedAnswer()).isNull();
	}

	@Test
	void countsCallsWithoutAKey() {
		CallAttempt first = this.context.observe(this.request);
		assertThat(first.key()).isNull();
		first.markUnanswered();
		CallAttempt retry = this.context.observe(this.request);
		this.context.observe(this.other).markDone();
		assertThat(this.context.calls()).isEqualTo(new Calls(2, 0, 3, 1, null));
		first.markDone();
		assertThat(this.context.calls().open()).as("a late answer to an earlier attempt").isOne();
		retry.markDone();
		assertThat(this.context.calls().open()).isZero();
		retry.markUnanswered();
		assertThat(this.context.calls().open()).as("a body that breaks off").isOne();
	}

	private @Nullable String derive(String target, String operation, Fingerprint asked) {
		return this.context.derive(target, operation, asked).key();
	}

}
