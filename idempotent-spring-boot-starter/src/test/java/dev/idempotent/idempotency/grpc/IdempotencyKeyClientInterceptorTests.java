package dev.idempotent.idempotency.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link IdempotencyKeyClientInterceptor} with a service that records the keys
 * it receives.
 */
class IdempotencyKeyClientInterceptorTests {

	private final Queue<Status> failures = new ArrayDeque<>();

	private final Charges charges = new Charges(this::work);

	private final Channel channel = this.charges.channel(new IdempotencyKeyClientInterceptor("charges"));

	private final IdempotencyKey key = Samples.key();

	@BeforeEach
	void beginRun() {
		IdempotencyContext.bind(new IdempotencyContext(this.key, "token"));
	}

	@AfterEach
	void endRun() {
		IdempotencyContext.bind(null);
		this.charges.close();
	}

	@Test
	void sendsAnotherKeyWithEachCall() {
		call("one");
		call("one");
		call(Charges.REFUND, "one");
		IdempotencyContext again = new IdempotencyContext(this.key, "another token");
		assertThat(this.charges.keys()).containsExactly(derive(again, Charges.CHARGE), derive(again, Charges.CHARGE),
				derive(again, Charges.REFUND));
	}

	@Test
	void sendsTheSameKeyToAnotherAddress() {
		call("one");
		IdempotencyContext.bind(new IdempotencyContext(this.key, "another token"));
		CallOptions moved = CallOptions.DEFAULT.withAuthority("charges.zone-2.example.com");
		ClientCalls.blockingUnaryCall(this.channel, Charges.CHARGE, moved, "one");
		assertThat(this.charges.keys()).hasSize(2).containsOnly(this.charges.keys().get(0)).doesNotContain("none");
	}

	@ParameterizedTest
	@EnumSource(names = { "OK", "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION",
			"OUT_OF_RANGE", "UNIMPLEMENTED" }, mode = EnumSource.Mode.EXCLUDE)
	void repeatsTheKeyAfterARetryableStatus(Status.Code code) {
		fail(code, (code == Status.Code.UNAVAILABLE) ? 3 : 1);
		call("one");
		call("one");
		List<String> keys = this.charges.keys();
		int attempts = keys.size() - 1;
		assertThat(keys.subList(0, attempts)).hasSizeGreaterThan(1).containsOnly(keys.get(0));
		assertThat(keys.get(attempts)).isNotEqualTo(keys.get(0));
	}

	@ParameterizedTest
	@EnumSource(names = { "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "OUT_OF_RANGE",
			"UNIMPLEMENTED" })
	void sendsAnotherKeyAfterAFinalStatus(Status.Code code) {
		fail(code, 1);
		call("one");
		assertThat(this.charges.keys()).hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void sendsAnotherKeyWithAnotherMessage() {
		fail(Status.Code.ABORTED, 1);
		call("two");
		assertThat(this.charges.keys()).hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void sendsOneKeyWithAllAttemptsOfTheChannel() {
		this.failures.add(Status.UNAVAILABLE);
		this.failures.add(Status.UNAVAILABLE);
		call("one");
		assertThat(this.charges.keys()).hasSize(3).containsOnly(this.charges.keys().get(0)).doesNotContain("none");
	}

	@Test
	void sendsNoKeyOutsideARun() {
		IdempotencyContext.bind(null);
		call("one");
		assertThat(this.charges.keys()).containsExactly("none");
	}

	@Test
	void sendsNoKeyWithAStream() {
		ClientCalls.blockingServerStreamingCall(this.channel, Charges.WATCH, CallOptions.DEFAULT, "one")
			.forEachRemaining((message) -> assertThat(message).isEqualTo("one"));
		assertThat(this.charges.keys()).containsExactly("none");
	}

	@Test
	void keepsTheKeyOfACallThatHasOne() {
		Metadata own = new Metadata();
		own.put(Charges.KEY, "mine");
		Channel keyed = this.charges.channel(MetadataUtils.newAttachHeadersInterceptor(own),
				new IdempotencyKeyClientInterceptor("charges"));
		ClientCalls.blockingUnaryCall(keyed, Charges.CHARGE, CallOptions.DEFAULT, "one");
		assertThat(this.charges.keys()).containsExactly("mine");
	}

	@Test
	void belongsToTheRunThatMadeTheCallOnAnyThread() throws ExecutionException, InterruptedException {
		ClientCall<String, String> made = this.channel.newCall(Charges.CHARGE, CallOptions.DEFAULT);
		IdempotencyContext.bind(null);
		assertThat(ClientCalls.futureUnaryCall(made, "one").get()).isEqualTo("one");
		assertThat(this.charges.keys()).hasSize(1).doesNotContain("none");
	}

	@Test
	void letsACallBeCancelledBeforeItsMessage() {
		ClientCall<String, String> made = this.channel.newCall(Charges.CHARGE, CallOptions.DEFAULT);
		CompletableFuture<Status> end = new CompletableFuture<>();
		made.start(new ClientCall.Listener<>() {
			@Override
			public void onClose(Status status, Metadata trailers) {
				end.complete(status);
			}
		}, new Metadata());
		made.request(2);
		made.cancel("Not needed any more", null);
		assertThat(end).succeedsWithin(Duration.ofMinutes(1))
			.extracting(Status::getCode)
			.isEqualTo(Status.Code.CANCELLED);
		call("one");
		// The server may see the cancelled call, which has no key, before or after the
		// other one.
		assertThat(this.charges.keys()).filteredOn((sent) -> !sent.equals("none"))
			.containsExactly(derive(new IdempotencyContext(this.key, "token"), Charges.CHARGE));
	}

	private void fail(Status.Code code, int times) {
		for (int i = 0; i < times; i++) {
			this.failures.add(code.toStatus());
		}
		assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(() -> call("one"))
			.extracting((failure) -> failure.getStatus().getCode())
			.isEqualTo(code);
	}

	private void call(String message) {
		call(Charges.CHARGE, message);
	}

	private void call(MethodDescriptor<String, String> method, String message) {
		assertThat(ClientCalls.blockingUnaryCall(this.channel, method, CallOptions.DEFAULT, message))
			.isEqualTo(message);
	}

	private static String derive(IdempotencyContext run, MethodDescriptor<?, ?> method) {
		return String.valueOf(run.derive("charges", method.getFullMethodName(), Samples.fingerprint("any")).key());
	}

	private synchronized String work(String request) {
		Status failure = this.failures.poll();
		if (failure != null) {
			throw failure.asRuntimeException();
		}
		return request;
	}

	/**
	 * A service on real gRPC within this process: two unary methods, and one that
	 * streams.
	 */
	static final class Charges implements AutoCloseable {

		static final String AUTHORITY = "charges.example.com";

		static final Metadata.Key<String> KEY = Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

		static final MethodDescriptor<String, String> CHARGE = method("Charge", MethodType.UNARY);

		static final MethodDescriptor<String, String> REFUND = method("Refund", MethodType.UNARY);

		static final MethodDescriptor<String, String> WATCH = method("Watch", MethodType.SERVER_STREAMING);

		private static final Map<String, Object> THREE_ATTEMPTS = Map.of("methodConfig",
				List.of(Map.of("name", List.of(Map.of()), "retryPolicy",
						Map.of("maxAttempts", 3D, "initialBackoff", "0.001s", "maxBackoff", "0.001s",
								"backoffMultiplier", 1D, "retryableStatusCodes", List.of("UNAVAILABLE")))));

		private final List<String> keys = new CopyOnWriteArrayList<>();

		private final Server server;

		private final ManagedChannel channel;

		/**
		 * Starts the service.
		 * @param work returns the response to a request, or throws the status to answer
		 * with
		 */
		Charges(Function<String, String> work) {
			ServerCalls.UnaryMethod<String, String> unary = (request, observer) -> answer(work, request, observer);
			ServerServiceDefinition service = ServerServiceDefinition.builder("test.Charges")
				.addMethod(CHARGE, ServerCalls.asyncUnaryCall(unary))
				.addMethod(REFUND, ServerCalls.asyncUnaryCall(unary))
				.addMethod(WATCH, ServerCalls.asyncServerStreamingCall(unary::invoke))
				.build();
			String name = UUID.randomUUID().toString();
			try {
				this.server = InProcessServerBuilder.forName(name)
					.addService(ServerInterceptors.intercept(service, new Recorder()))
					.build()
					.start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			this.channel = InProcessChannelBuilder.forName(name)
				.overrideAuthority(AUTHORITY)
				.defaultServiceConfig(THREE_ATTEMPTS)
				.enableRetry()
				.build();
		}

		Channel channel(ClientInterceptor... interceptors) {
			return ClientInterceptors.interceptForward(this.channel, interceptors);
		}

		/**
		 * The keys of all calls that have arrived, in their order; {@code none} where
		 * none was sent.
		 */
		List<String> keys() {
			return List.copyOf(this.keys);
		}

		private static void answer(Function<String, String> work, String request, StreamObserver<String> observer) {
			String response;
			try {
				response = work.apply(request);
			}
			catch (StatusRuntimeException ex) {
				observer.onError(ex);
				return;
			}
			observer.onNext(response);
			observer.onCompleted();
		}

		private static MethodDescriptor<String, String> method(String name, MethodType type) {
			return MethodDescriptor.<String, String>newBuilder()
				.setFullMethodName(MethodDescriptor.generateFullMethodName("test.Charges", name))
				.setType(type)
				.setRequestMarshaller(new Text())
				.setResponseMarshaller(new Text())
				.build();
		}

		@Override
		public void close() {
			this.channel.shutdownNow();
			this.server.shutdownNow();
		}

		private final class Recorder implements ServerInterceptor {

			@Override
			public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers,
					ServerCallHandler<Q, R> next) {
				Iterable<String> sent = headers.getAll(KEY);
				Charges.this.keys.add((sent != null) ? String.join(", ", sent) : "none");
				return next.startCall(call, headers);
			}

		}

		private static final class Text implements MethodDescriptor.Marshaller<String> {

			@Override
			public InputStream stream(String value) {
				return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
			}

			@Override
			public String parse(InputStream stream) {
				try (stream) {
					return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			}

		}

	}

}
