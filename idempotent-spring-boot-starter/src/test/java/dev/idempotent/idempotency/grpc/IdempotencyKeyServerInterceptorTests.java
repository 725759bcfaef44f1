package dev.idempotent.idempotency.grpc;

import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.InMemoryIdempotencyStore;
import dev.idempotent.idempotency.Race;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.grpc.KeyedCalls.Reply;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;
import dev.idempotent.testing.Gate;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static dev.idempotent.idempotency.grpc.KeyedCalls.call;
import static dev.idempotent.idempotency.grpc.KeyedCalls.guard;
import static dev.idempotent.idempotency.grpc.KeyedCalls.headers;
import static dev.idempotent.idempotency.grpc.KeyedCalls.interceptor;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyKeyServerInterceptor}.
 */
class IdempotencyKeyServerInterceptorTests {

	private final AtomicInteger runs = new AtomicInteger();

	private final AtomicReference<@Nullable Gate> gate = new AtomicReference<>();

	private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

	private final AtomicReference<@Nullable IdempotencyContext> seen = new AtomicReference<>();

	private final IdempotencyGuard guard = guard(new InMemoryIdempotencyStore(InstantSource.system()));

	private final Charges charges = new Charges(this::work, interceptor(this.guard));

	@AfterEach
	void stop() {
		this.charges.close();
		this.guard.close();
	}

	@Test
	void runsOnceAndReplaysTheAnswer() {
		Reply first = charge("a", "one");
		Reply second = charge("a", "one");
		assertThat(first).isEqualTo(new Reply(Status.Code.OK, "run 1 of one", false));
		assertThat(second).isEqualTo(new Reply(Status.Code.OK, "run 1 of one", true));
		assertThat(charge("b", "one").text()).isEqualTo("run 2 of one");
	}

	@Test
	void runsOneOfManyConcurrentCalls() throws InterruptedException {
		List<String> answers = Race.of(8, (number) -> {
			Reply reply = charge("a", "one");
			while (reply.code() == Status.Code.ABORTED) {
				reply = charge("a", "one");
			}
			return reply.text();
		});
		assertThat(answers).containsOnly("run 1 of one");
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void letsADuplicateComeAgainWhileTheFirstCallRuns() throws Exception {
		Gate closed = new Gate();
		this.gate.set(closed);
		Future<String> first = ClientCalls.futureUnaryCall(newCall(headers("a", "ada")), "one");
		closed.awaitEntry();
		assertThat(charge("a", "one").code()).isEqualTo(Status.Code.ABORTED);
		assertThat(charge("a", "two").code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		closed.open();
		assertThat(first.get()).isEqualTo("run 1 of one");
		assertThat(charge("a", "one")).isEqualTo(new Reply(Status.Code.OK, "run 1 of one", true));
	}

	@Test
	void storesTheAnswerBeforeItIsSent() {
		AtomicReference<@Nullable Reply> retry = new AtomicReference<>();
		ServerInterceptor before = new BeforeSending(() -> retry.set(charge("a", "one")));
		try (Charges hurried = new Charges(this::work, before, interceptor(this.guard))) {
			call(hurried, Charges.CHARGE, headers("a", "ada"), "one");
		}
		assertThat(retry).hasValue(new Reply(Status.Code.OK, "run 1 of one", true));
	}

	@Test
	void keepsTheAnswerForACallerWhoWentAway() throws Exception {
		Gate closed = new Gate();
		this.gate.set(closed);
		Future<String> first = ClientCalls.futureUnaryCall(newCall(headers("a", "ada")), "one");
		closed.awaitEntry();
		assertThat(first.cancel(true)).isTrue();
		closed.open();
		Awaitility.await().until(() -> charge("a", "one").code() == Status.Code.OK);
		assertThat(charge("a", "one")).isEqualTo(new Reply(Status.Code.OK, "run 1 of one", true));
	}

	@Test
	void refusesAKeyThatWasUsedForAnotherCall() {
		charge("a", "one");
		assertThat(charge("a", "two").code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		assertThat(call(this.charges, Charges.REFUND, headers("a", "ada"), "one").code())
			.isEqualTo(Status.Code.INVALID_ARGUMENT);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void givesEachScopeKeysOfItsOwn() {
		charge("a", "one");
		assertThat(call(this.charges, Charges.CHARGE, headers("a", "eve"), "one").text()).isEqualTo("run 2 of one");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "tab\there", "a,b", "a, b", "xxxxxxxxxxxxxxxx" })
	void refusesAMalformedKey(String key) {
		Reply reply = charge(key.startsWith("x") ? key.repeat(16) : key, "one");
		assertThat(reply.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		assertThat(reply.text()).contains("1 to 255 visible ASCII").doesNotContain("xx");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void takesTheLongestKey() {
		assertThat(charge("x".repeat(255), "one").code()).isEqualTo(Status.Code.OK);
	}

	@Test
	void refusesAKeyThatIsSentTwice() {
		Metadata twice = headers("a", "ada");
		twice.put(Charges.KEY, "a");
		assertThat(call(this.charges, Charges.CHARGE, twice, "one").code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void letsCallsWithoutAKeyAndStreamsPass() {
		assertThat(call(this.charges, Charges.CHARGE, new Metadata(), "one").text()).isEqualTo("run 1 of one");
		assertThat(call(this.charges, Charges.CHARGE, new Metadata(), "one").text()).isEqualTo("run 2 of one");
		for (int run = 3; run <= 4; run++) {
			Channel keyed = this.charges.channel(MetadataUtils.newAttachHeadersInterceptor(headers("a", "ada")));
			assertThat(ClientCalls.blockingServerStreamingCall(keyed, Charges.WATCH, CallOptions.DEFAULT, "one").next())
				.isEqualTo("run " + run + " of one");
		}
		assertThat(this.seen).hasValue(null);
	}

	@Test
	void freesTheKeyAfterAnException() {
		this.failure.set(new IllegalStateException("The service failed"));
		assertThat(charge("a", "one").code()).isEqualTo(Status.Code.UNKNOWN);
		this.failure.set(null);
		assertThat(charge("a", "one")).isEqualTo(new Reply(Status.Code.OK, "run 2 of one", false));
	}

	@Test
	void runsInTheContextOfItsKey() {
		charge("a", "one");
		assertThat(this.seen.get()).isNotNull()
			.extracting(IdempotencyContext::key)
			.isEqualTo(IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", "ada", "", "a"));
		call(this.charges, Charges.CHARGE, new Metadata(), "one");
		assertThat(this.seen).hasValue(null);
	}

	@Test
	void isUnavailableWhileTheStoreIs() {
		LettuceConnectionFactory nowhere = new LettuceConnectionFactory("127.0.0.1", 1);
		nowhere.afterPropertiesSet();
		nowhere.start();
		try (IdempotencyGuard cut = guard(new RedisIdempotencyStore(nowhere, "test:"));
				Charges service = new Charges(this::work, interceptor(cut))) {
			assertThat(call(service, Charges.CHARGE, headers("a", "ada"), "one").code())
				.isEqualTo(Status.Code.UNAVAILABLE);
			assertThat(this.runs).hasValue(0);
		}
		finally {
			nowhere.destroy();
		}
	}

	private String work(String request) {
		int run = this.runs.incrementAndGet();
		this.seen.set(IdempotencyContext.current());
		Gate closed = this.gate.get();
		RuntimeException thrown = this.failure.get();
		if (thrown != null) {
			throw thrown;
		}
		if (closed != null) {
			pass(closed);
		}
		return "run " + run + " of " + request;
	}

	private static void pass(Gate closed) {
		try {
			closed.pass();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private ClientCall<String, String> newCall(Metadata headers) {
		return this.charges.channel(MetadataUtils.newAttachHeadersInterceptor(headers))
			.newCall(Charges.CHARGE, CallOptions.DEFAULT);
	}

	private Reply charge(String key, String message) {
		return call(this.charges, Charges.CHARGE, headers(key, "ada"), message);
	}

}
