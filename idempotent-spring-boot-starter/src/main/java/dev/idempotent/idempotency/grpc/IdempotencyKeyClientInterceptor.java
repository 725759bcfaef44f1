package dev.idempotent.idempotency.grpc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/**
 * Sends a derived key as {@code idempotency-key} with each unary call that an idempotent
 * run makes: the same key for all attempts of a call, and a different one for each call.
 * Streaming calls, calls with a key of their own, and calls outside a run are left
 * unchanged. Add it to the channels of services that may receive keys.
 */
public final class IdempotencyKeyClientInterceptor implements ClientInterceptor {

	/**
	 * Creates the interceptor.
	 */
	public IdempotencyKeyClientInterceptor() {
	}

	@Override
	public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
		IdempotencyContext run = IdempotencyContext.current();
		ClientCall<Q, R> call = next.newCall(method, options);
		if (run == null || method.getType() != MethodType.UNARY) {
			return call;
		}
		String authority = (options.getAuthority() != null) ? options.getAuthority() : next.authority();
		return new KeyedClientCall<>(call, (request) -> run
			.derive("grpc://" + authority + "/" + method.getFullMethodName(), fingerprint(method, request)));
	}

	private static <Q> Fingerprint fingerprint(MethodDescriptor<Q, ?> method, Q request) {
		try (InputStream message = method.streamRequest(request)) {
			return Fingerprint
				.of(List.of(method.getFullMethodName().getBytes(StandardCharsets.UTF_8), message.readAllBytes()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
