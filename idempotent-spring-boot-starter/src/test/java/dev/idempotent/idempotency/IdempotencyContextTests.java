package dev.idempotent.idempotency;

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
		assertThat(derive(TARGET, this.request)).isEqualTo(again.derive(TARGET, this.request).value());
		assertThat(derive(TARGET, this.other)).isEqualTo(again.derive(TARGET, this.other).value());
	}

	@Test
	void derivesDifferentKeysFromDifferentKeysTargetsAndCalls() {
		IdempotencyContext stranger = new IdempotencyContext(Samples.key(), "token");
		assertThat(new String[] { derive(TARGET, this.request), derive(TARGET, this.request),
				derive(TARGET, this.other), derive("POST http://gateway/refunds", this.request),
				stranger.derive(TARGET, this.request).value(), this.key.digest() })
			.doesNotHaveDuplicates();
	}

	@Test
	void derivesOneKeyForAllAttemptsAtACall() {
		DerivedKey first = this.context.derive(TARGET, this.request);
		first.markUnanswered();
		DerivedKey second = this.context.derive(TARGET, this.request);
		second.markUnanswered();
		assertThat(second.value()).isEqualTo(first.value());
		assertThat(derive(TARGET, this.request)).isEqualTo(first.value());
		assertThat(derive(TARGET, this.request)).isNotEqualTo(first.value());
	}

	@Test
	void treatsAnotherRequestAsNoRetry() {
		DerivedKey first = this.context.derive(TARGET, this.request);
		first.markUnanswered();
		assertThat(derive(TARGET, this.other)).isNotEqualTo(first.value());
		assertThat(derive(TARGET, this.request)).isEqualTo(first.value());
	}

	@Test
	void retriesCallsInTheirOrder() {
		DerivedKey first = this.context.derive(TARGET, this.request);
		DerivedKey second = this.context.derive(TARGET, this.request);
		second.markUnanswered();
		first.markUnanswered();
		assertThat(derive(TARGET, this.request)).isEqualTo(first.value());
		assertThat(derive(TARGET, this.request)).isEqualTo(second.value());
	}

	@Test
	void givesASingleCallAndItsRetriesTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		DerivedKey first = single.derive(TARGET, this.request);
		first.markUnanswered();
		assertThat(first.value()).isEqualTo(this.key.digest());
		assertThat(single.derive(TARGET, this.request).value()).isEqualTo(this.key.digest());
		assertThat(single.calls()).isEqualTo(new IdempotencyContext.Calls(1, 0, 1));
	}

	@Test
	void refusesASecondCallUnderTheKeyOfTheRun() {
		IdempotencyContext single = IdempotencyContext.forSingleCall(this.key, "token", null);
		single.derive(TARGET, this.request).markUnanswered();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, this.other))
			.withMessageContaining("a single call")
			.withMessageNotContainingAny(TARGET, this.key.digest());
		single.derive(TARGET, this.request).markSucceeded();
		assertThatIllegalStateException().isThrownBy(() -> single.derive(TARGET, this.request));
		assertThat(single.calls()).isEqualTo(new IdempotencyContext.Calls(3, 1, 1));
	}

	@Test
	void countsDifferentCallsAndTheirOutcomes() {
		assertThat(this.context.calls()).isEqualTo(new IdempotencyContext.Calls(0, 0, 0));
		this.context.derive(TARGET, this.request).markUnanswered();
		this.context.derive(TARGET, this.request).markSucceeded();
		this.context.derive(TARGET, this.request).markSucceeded();
		assertThat(this.context.calls()).isEqualTo(new IdempotencyContext.Calls(2, 2, 1));
	}

	private String derive(String target, Fingerprint asked) {
		return this.context.derive(target, asked).value();
	}

}
