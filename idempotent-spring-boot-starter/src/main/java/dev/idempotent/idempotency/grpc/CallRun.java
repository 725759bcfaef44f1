package dev.idempotent.idempotency.grpc;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * The one run of a key: holds the answer back until it is stored.
 */
final class CallRun<Q, R> extends SimpleForwardingServerCall<Q, R> {

	private final Claimant claimant;

	private final IdempotencyContext context;

	private final AtomicBoolean settled = new AtomicBoolean();

	private @Nullable R response;

	CallRun(ServerCall<Q, R> call, Claimant claimant) {
		super(call);
		this.claimant = claimant;
		this.context = claimant.context();
	}

	ServerCall.Listener<Q> start(ServerCallHandler<Q, R> service, Metadata headers) {
		return new BoundListener<>(within(() -> service.startCall(this, headers)), this);
	}

	@Override
	public void sendMessage(R message) {
		if (this.response != null) {
			throw Status.INTERNAL.withDescription("A unary method has one response.").asRuntimeException();
		}
		this.response = message;
	}

	@Override
	public void close(Status status, Metadata trailers) {
		StoredResponse kept = null;
		try {
			kept = KeptAnswer.of(status, this.response, getMethodDescriptor());
		}
		finally {
			settle(kept);
		}
		if (status.isOk() && this.response != null) {
			super.sendMessage(this.response);
		}
		super.close(status, trailers);
	}

	/**
	 * Lets the service's code run in the context of its key. An exception that leaves it
	 * frees the key: gRPC closes such a call behind our back.
	 */
	<T> T within(Supplier<T> step) {
		IdempotencyContext outer = IdempotencyContext.bind(this.context);
		boolean returned = false;
		try {
			T result = step.get();
			returned = true;
			return result;
		}
		finally {
			IdempotencyContext.bind(outer);
			if (!returned) {
				settle(null);
			}
		}
	}

	private void settle(@Nullable StoredResponse kept) {
		if (!this.settled.compareAndSet(false, true)) {
			return;
		}
		if (kept != null) {
			this.claimant.complete(kept);
		}
		else {
			this.claimant.release();
		}
	}

}
