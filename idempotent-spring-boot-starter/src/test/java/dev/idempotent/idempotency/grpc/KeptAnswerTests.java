package dev.idempotent.idempotency.grpc;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.InMemoryIdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.grpc.KeyedCalls.Reply;
import io.grpc.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static dev.idempotent.idempotency.grpc.KeyedCalls.guard;
import static dev.idempotent.idempotency.grpc.KeyedCalls.headers;
import static dev.idempotent.idempotency.grpc.KeyedCalls.interceptor;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the answers other than OK that are kept, and those that are not.
 */
class KeptAnswerTests {

	private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

	private final IdempotencyGuard guard = guard(this.store);

	@AfterEach
	void stop() {
		this.guard.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "OUT_OF_RANGE" })
	void replaysARefusal(Status.Code code) {
		try (Refusing refusing = new Refusing(code.toStatus().withDescription("for a reason"))) {
			assertThat(refusing.call()).isEqualTo(new Reply(code, "for a reason", false));
			assertThat(refusing.call()).isEqualTo(new Reply(code, "for a reason", true));
			assertThat(refusing.runs).hasValue(1);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
			"ABORTED", "UNIMPLEMENTED", "INTERNAL", "DATA_LOSS", "UNAUTHENTICATED" })
	void freesTheKeyAfterAnyOtherStatus(Status.Code code) {
		try (Refusing refusing = new Refusing(code.toStatus())) {
			assertThat(refusing.call().code()).isEqualTo(code);
			assertThat(refusing.call().code()).isEqualTo(code);
			assertThat(refusing.runs).hasValue(2);
		}
	}

	@Test
	void neverRunsAgainIfTheAnswerIsNotKept() {
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", "ada", "", "r");
		this.store.complete(key, IdempotencyKeyMetadata.fingerprint(Charges.CHARGE, "one"), "token",
				StoredResponse.notKept(), Duration.ofHours(1));
		try (Refusing refusing = new Refusing(Status.NOT_FOUND)) {
			assertThat(refusing.call().code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
			assertThat(refusing.runs).hasValue(0);
		}
	}

	/**
	 * A service that answers every call with a status other than OK.
	 */
	private final class Refusing implements AutoCloseable {

		final AtomicInteger runs = new AtomicInteger();

		private final Charges service;

		Refusing(Status status) {
			this.service = new Charges((request) -> {
				this.runs.incrementAndGet();
				throw status.asRuntimeException();
			}, interceptor(KeptAnswerTests.this.guard));
		}

		Reply call() {
			return KeyedCalls.call(this.service, Charges.CHARGE, headers("r", "ada"), "one");
		}

		@Override
		public void close() {
			this.service.close();
		}

	}

}
