package dev.idempotent.idempotency;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
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

	private static final String TARGET = "POST http://gateway/charges";

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
		assertThat(derive(TARGET, this.request)).isEqualTo(again.derive(TARGET, this.request).key());
		assertThat(derive(TARGET, this.other)).isEqualTo(again.derive(TARGET, this.other).key());
	}

	@Test
	void derivesDifferentKeysFromDifferentKeysTargetsAndCalls() {
		IdempotencyContext stranger = new IdempotencyContext(Samples.key(), "token");
		assertThat(new String[] { derive(TARGET, this.request), derive(TARGET, this.request),
				derive(TARGET, this.other), derive("POST http://gateway/refunds", this.request),
				stranger.derive(TARGET, this.request).key(), this.key.digest() })
			.doesNotHaveDuplicates();
	}

	@Test
	void derivesOneKeyForAllAttemptsAtACall() {
		CallAttempt first = this.context.derive(TARGET, this.request);
		first.markUnanswered();
		CallAttempt second = this.context.derive(TARGET, this.request);
		second.markUnanswered();
		assertThat(second.key()).isEqualTo(first.key());
		assertThat(derive(TARGET, this.request)).isEqualTo(first.key());
		assertThat(derive(TARGET, this.request)).isNotEqualTo(first.key());
	}

	@Test
	void treatsAnotherRequestAsNoRetry() {
		CallAttempt first = this.context.derive(TARGET, this.request);
		first.markUnanswered();
		assertThat(derive(TARGET, this.other)).isNotEqualTo(first.key());
		assertThat(derive(TARGET, this.request)).isEqualTo(first.key());
	}

	@Test
	void retriesCallsInTheirOrder() {
		CallAttempt first = this.context.derive(TARGET, this.request);
		CallAttempt second = this.context.derive(TARGET, this.request);
		second.markUnanswered();
		first.markUnanswered();
		assertThat(derive(TARGET, this.request)).isEqualTo(first.key());
		assertThat(derive(TARGET, this.request)).isEqualTo(second.key());
	}

	@Test
	void givesASingleCallAndItsRetriesTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		CallAttempt first = single.derive(TARGET, this.request);
		first.markUnanswered();
		assertThat(first.key()).isEqualTo(this.key.digest());
		assertThat(single.derive(TARGET, this.request).key()).isEqualTo(this.key.digest());
		assertThat(single.calls()).isEqualTo(new Calls(1, 1, 2, 1, null));
	}

	@Test
	void refusesASecondCallUnderTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		single.derive(TARGET, this.request).markUnanswered();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, this.other))
			.withMessageContaining("a single call")
			.withMessageNotContainingAny(TARGET, this.key.digest());
		single.derive(TARGET, this.request).markDone();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, this.request));
		assertThat(single.calls()).isEqualTo(new Calls(1, 3, 2, 0, null));
	}

	@Test
	void countsDifferentCallsAndTheirOutcomes() {
		assertThat(this.context.calls()).isEqualTo(new Calls(0, 0, 0, 0, null));
		this.context.derive(TARGET, this.request).markUnanswered();
		assertThat(this.context.calls()).isEqualTo(new Calls(1, 1, 1, 1, null));
		this.context.derive(TARGET, this.request).markDone();
		assertThat(this.context.calls()).isEqualTo(new Calls(1, 1, 2, 0, null));
		CallAttempt refused = this.context.derive(TARGET, this.request);
		refused.markAnswered(new Answer(404, false));
		assertThat(this.context.calls()).isEqualTo(new Calls(2, 2, 3, 1, new Answer(404, false)));
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

	private @Nullable String derive(String target, Fingerprint asked) {
		return this.context.derive(target, asked).key();
	}

}
