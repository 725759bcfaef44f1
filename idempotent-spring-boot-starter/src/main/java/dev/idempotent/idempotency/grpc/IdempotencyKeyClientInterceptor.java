package dev.idempotent.idempotency.grpc;

import dev.idempotent.idempotency.IdempotencyContext;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/**
 * Sends a derived key as {@code idempotency-key} with each unary call that an idempotent
 * run makes: the same key for all attempts at a call, another one for another call.
 * Streaming calls, calls with a key of their own, and every call outside a run pass
 * untouched. To be added to the channels of services that may be sent keys.
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
		return new KeyedClientCall<>(call,
				(request) -> run.derive("grpc://" + authority + "/" + method.getFullMethodName(),
						IdempotencyKeyMetadata.fingerprint(method, request)));
	}

}
