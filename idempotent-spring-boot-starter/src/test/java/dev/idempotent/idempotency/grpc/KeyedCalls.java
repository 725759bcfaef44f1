package dev.idempotent.idempotency.grpc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Calls with a key, and what comes back.
 */
final class KeyedCalls {

	private static final Metadata.Key<String> REPLAYED = Metadata.Key.of("idempotent-replayed",
			Metadata.ASCII_STRING_MARSHALLER);

	private static final Metadata.Key<String> CALLER = Metadata.Key.of("caller", Metadata.ASCII_STRING_MARSHALLER);

	private KeyedCalls() {
	}

	static Reply call(Charges service, MethodDescriptor<String, String> method, Metadata headers, String message) {
		AtomicReference<Metadata> received = new AtomicReference<>();
		AtomicReference<Metadata> trailers = new AtomicReference<>();
		Channel channel = service.channel(MetadataUtils.newAttachHeadersInterceptor(headers),
				MetadataUtils.newCaptureMetadataInterceptor(received, trailers));
		AtomicReference<String> answer = new AtomicReference<>();
		StatusRuntimeException failed = catchThrowableOfType(StatusRuntimeException.class,
				() -> answer.set(ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, message)));
		boolean replayed = isReplayed(received.get()) || isReplayed(trailers.get());
		return (failed == null) ? new Reply(Status.Code.OK, answer.get(), replayed) : new Reply(
				failed.getStatus().getCode(), String.valueOf(failed.getStatus().getDescription()), replayed);
	}

	private static boolean isReplayed(@Nullable Metadata metadata) {
		return metadata != null && "true".equals(metadata.get(REPLAYED));
	}

	static Metadata headers(String key, String caller) {
		Metadata headers = new Metadata();
		headers.put(Charges.KEY, key);
		headers.put(CALLER, caller);
		return headers;
	}

	static IdempotencyGuard guard(IdempotencyStore store) {
		return new IdempotencyGuard(store, OnStoreFailure.REJECT, Duration.ofMinutes(1));
	}

	static IdempotencyKeyServerInterceptor interceptor(IdempotencyGuard guard) {
		return new IdempotencyKeyServerInterceptor(guard, "test",
				(call, headers) -> String.valueOf(headers.get(CALLER)), Duration.ofSeconds(30), Duration.ofHours(1));
	}

	record Reply(Status.Code code, String text, boolean replayed) {
	}

}
