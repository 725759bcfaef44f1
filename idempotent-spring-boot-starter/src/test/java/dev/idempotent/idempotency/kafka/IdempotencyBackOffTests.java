package dev.idempotent.idempotency.kafka;

import java.time.Duration;
import java.util.stream.LongStream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.listener.BackOffHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.util.Assert;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.FixedBackOff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class IdempotencyBackOffTests {

	private static final IdempotencyKey KEY = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "test", "", "pay", "1");

	private static final ConsumerRecord<String, String> RECORD = new ConsumerRecord<>("payments", 0, 0, "1", "pay");

	@Test
	void waitsWithoutEndForAPendingKey() {
		BackOffExecution waiting = start(new IdempotencyPendingException(KEY, Duration.ofSeconds(30)));
		assertThat(LongStream.generate(waiting::nextBackOff).limit(8)).containsExactly(100L, 200L, 400L, 800L, 1600L,
				3200L, 5000L, 5000L);
		assertThat(LongStream.generate(waiting::nextBackOff).limit(10_000)).containsOnly(5000L);
	}

	@Test
	void waitsWithoutEndForAStoreThatIsAway() {
		BackOffExecution waiting = start(new IdempotencyStoreUnavailableException("away", null));
		assertThat(LongStream.generate(waiting::nextBackOff).limit(10_000)).doesNotContain(BackOffExecution.STOP);
	}

	@Test
	void settlesNoRecordWhileAnotherCallHasItsKey() {
		assertThat(start(new IdempotencyMismatchException(KEY, Duration.ofSeconds(30))).nextBackOff()).isEqualTo(100);
	}

	@Test
	void looksAtCausesToo() {
		Exception pending = new IdempotencyPendingException(KEY, Duration.ofSeconds(30));
		Exception wrapped = new ListenerExecutionFailedException("failed", new IllegalStateException(pending));
		assertThat(start(wrapped).nextBackOff()).isEqualTo(100);
	}

	@Test
	void doesNotRetryFinalFailures() {
		assertThat(start(new IdempotencyMismatchException(KEY)).nextBackOff()).isEqualTo(BackOffExecution.STOP);
		assertThat(start(new IdempotencyResultException("lost", null)).nextBackOff()).isEqualTo(BackOffExecution.STOP);
	}

	@Test
	void usesTheHandlersBackOffForOtherFailures() {
		assertThat(backoff(new IllegalStateException("The bank is closed"))).isNull();
		assertThat(backoff(new IdempotencyStoreException("A value that is not ours", null))).isNull();
	}

	@Test
	void addsItsExceptionsToAHandlerThatRetriesNoOthers() {
		DefaultErrorHandler handler = new DefaultErrorHandler(null, new FixedBackOff(0, 9), new NoWait());
		handler.addNotRetryableExceptions(RuntimeException.class);
		IdempotencyBackOff.addTo(handler);
		assertThat(takes(handler, new IllegalStateException("The bank is closed"))).isTrue();
		for (int i = 0; i < 12; i++) {
			assertThat(takes(handler, new IdempotencyPendingException(KEY, Duration.ofSeconds(30)))).isFalse();
		}
	}

	private static boolean takes(DefaultErrorHandler handler, Exception failure) {
		return handler.handleOne(failure, RECORD, mock(Consumer.class), mock(MessageListenerContainer.class));
	}

	private static BackOffExecution start(Exception failure) {
		BackOff backoff = backoff(failure);
		Assert.state(backoff != null, "The failure is left to the handler");
		return backoff.start();
	}

	private static @Nullable BackOff backoff(Exception failure) {
		return new IdempotencyBackOff().apply(RECORD, failure);
	}

	/**
	 * Lets the time pass at once.
	 */
	private static final class NoWait implements BackOffHandler {

		@Override
		public void onNextBackOff(@Nullable MessageListenerContainer container, @Nullable Exception exception,
				long nextBackOff) {
		}

	}

}
