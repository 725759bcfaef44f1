package dev.idempotent.idempotency.grpc;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

import io.grpc.Channel;
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
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/**
 * A service on real gRPC within this process: two unary methods, and one that streams.
 */
final class Charges implements AutoCloseable {

	static final String AUTHORITY = "charges.example.com";

	static final Metadata.Key<String> KEY = Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

	static final MethodDescriptor<String, String> CHARGE = method("Charge", MethodType.UNARY);

	static final MethodDescriptor<String, String> REFUND = method("Refund", MethodType.UNARY);

	static final MethodDescriptor<String, String> WATCH = method("Watch", MethodType.SERVER_STREAMING);

	private static final Map<String, Object> THREE_ATTEMPTS = Map.of("methodConfig",
			List.of(Map.of("name", List.of(Map.of()), "retryPolicy",
					Map.of("maxAttempts", 3D, "initialBackoff", "0.001s", "maxBackoff", "0.001s", "backoffMultiplier",
							1D, "retryableStatusCodes", List.of("UNAVAILABLE")))));

	private final List<String> keys = new CopyOnWriteArrayList<>();

	private final Server server;

	private final ManagedChannel channel;

	/**
	 * Starts the service.
	 * @param work returns the response to a request, or throws the status to answer with
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
	 * The keys of all calls that have arrived, in their order; {@code none} where none
	 * was sent.
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
