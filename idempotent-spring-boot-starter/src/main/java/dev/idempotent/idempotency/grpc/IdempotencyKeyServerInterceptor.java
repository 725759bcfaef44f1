package dev.idempotent.idempotency.grpc;

import java.time.Duration;
import java.util.Iterator;
import java.util.function.BiFunction;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.Claimant;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

/**
 * Lets a unary method run once per {@code idempotency-key}, under a lease: a retry gets
 * the stored answer with the metadata {@code idempotent-replayed}. Streaming methods, and
 * calls without a key, pass untouched. To be added inside of what authenticates callers.
 */
public final class IdempotencyKeyServerInterceptor implements ServerInterceptor {

	private static final int MAX_LENGTH = 255;

	private final IdempotencyGuard guard;

	private final String namespace;

	private final BiFunction<ServerCall<?, ?>, Metadata, String> scope;

	private final Duration lease;

	private final Duration retention;

	/**
	 * Creates the interceptor.
	 * @param guard keeps the keys
	 * @param namespace sets the keys of this application apart from those of others
	 * @param scope tells whose key it is from the call and its metadata, such as the name
	 * of the principal: callers of one scope share their keys
	 * @param lease how long a claim holds if its owner falls silent
	 * @param retention how long an answer is replayed
	 */
	public IdempotencyKeyServerInterceptor(IdempotencyGuard guard, String namespace,
			BiFunction<ServerCall<?, ?>, Metadata, String> scope, Duration lease, Duration retention) {
		this.guard = guard;
		this.namespace = namespace;
		this.scope = scope;
		this.lease = lease;
		this.retention = retention;
	}

	@Override
	public <Q, R> ServerCall.Listener<Q> interceptCall(ServerCall<Q, R> call, Metadata headers,
			ServerCallHandler<Q, R> next) {
		Iterable<String> sent = headers.getAll(IdempotencyKeyMetadata.KEY);
		MethodDescriptor<Q, R> method = call.getMethodDescriptor();
		if (sent == null || method.getType() != MethodType.UNARY) {
			return next.startCall(call, headers);
		}
		Iterator<String> values = sent.iterator();
		String value = values.next();
		if (values.hasNext() || !isKey(value)) {
			call.close(Status.INVALID_ARGUMENT.withDescription("idempotency-key must be sent once, as 1 to "
					+ MAX_LENGTH + " visible ASCII characters without a comma."), new Metadata());
			return new ServerCall.Listener<>() {
			};
		}
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.HEADER, this.namespace,
				this.scope.apply(call, headers), "", value);
		return new ClaimingListener<>(call, headers, next,
				(request) -> claimant(key, IdempotencyKeyMetadata.fingerprint(method, request)));
	}

	private Claimant claimant(IdempotencyKey key, Fingerprint fingerprint) {
		return this.guard.claimant(key, fingerprint, this.lease, this.retention);
	}

	/**
	 * Metadata that was sent twice may arrive as one value with a comma in between.
	 */
	private static boolean isKey(String value) {
		return !value.isEmpty() && value.length() <= MAX_LENGTH
				&& value.chars().allMatch((character) -> character > ' ' && character < 0x7f && character != ',');
	}

}
