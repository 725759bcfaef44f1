package dev.idempotent.idempotency.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import dev.idempotent.idempotency.CallAttempt;
import io.grpc.ClientCall;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * A unary call that starts when its message is sent, because its key is derived from the
 * message.
 */
final class KeyedClientCall<Q, R> extends SimpleForwardingClientCall<Q, R> {

	private static final Metadata.Key<String> KEY = Metadata.Key.of("idempotency-key",
			Metadata.ASCII_STRING_MARSHALLER);

	/**
	 * The status codes that a server would report again for a retry.
	 */
	private static final Set<Status.Code> ANSWERS = Set.of(Status.Code.OK, Status.Code.INVALID_ARGUMENT,
			Status.Code.NOT_FOUND, Status.Code.ALREADY_EXISTS, Status.Code.FAILED_PRECONDITION,
			Status.Code.OUT_OF_RANGE, Status.Code.UNIMPLEMENTED);

	private final Function<Q, CallAttempt> attempts;

	private final List<Runnable> heldBack = new ArrayList<>();

	private @Nullable Start<R> start;

	private boolean started;

	KeyedClientCall(ClientCall<Q, R> call, Function<Q, CallAttempt> attempts) {
		super(call);
		this.attempts = attempts;
	}

	@Override
	public void start(Listener<R> listener, Metadata headers) {
		synchronized (this) {
			this.start = new Start<>(listener, headers);
		}
		if (headers.containsKey(KEY)) {
			startNow(null);
		}
	}

	@Override
	public void request(int messages) {
		whenStarted(() -> super.request(messages));
	}

	@Override
	public void setMessageCompression(boolean enabled) {
		whenStarted(() -> super.setMessageCompression(enabled));
	}

	@Override
	public boolean isReady() {
		synchronized (this) {
			if (!this.started) {
				return true;
			}
		}
		return super.isReady();
	}

	@Override
	public void sendMessage(Q message) {
		startNow(message);
		super.sendMessage(message);
	}

	@Override
	public void halfClose() {
		startNow(null);
		super.halfClose();
	}

	@Override
	public void cancel(@Nullable String message, @Nullable Throwable cause) {
		startNow(null);
		super.cancel(message, cause);
	}

	/**
	 * Any thread may cancel a call or request messages.
	 */
	private void whenStarted(Runnable step) {
		synchronized (this) {
			if (!this.started) {
				this.heldBack.add(step);
				return;
			}
		}
		step.run();
	}

	private synchronized void startNow(@Nullable Q message) {
		Start<R> held = this.start;
		if (this.started || held == null) {
			return;
		}
		this.started = true;
		if (message == null) {
			super.start(held.listener(), held.headers());
		}
		else {
			CallAttempt attempt = this.attempts.apply(message);
			held.headers().put(KEY, Objects.requireNonNull(attempt.key()));
			super.start(new Ending<>(held.listener(), attempt), held.headers());
		}
		this.heldBack.forEach(Runnable::run);
	}

	private record Start<R>(Listener<R> listener, Metadata headers) {
	}

	/**
	 * Marks the call as done, or as unanswered if a retry of the call could end
	 * differently.
	 */
	private static final class Ending<R> extends SimpleForwardingClientCallListener<R> {

		private final CallAttempt attempt;

		Ending(Listener<R> listener, CallAttempt attempt) {
			super(listener);
			this.attempt = attempt;
		}

		@Override
		public void onClose(Status status, Metadata trailers) {
			if (status.isOk()) {
				this.attempt.markDone();
			}
			if (!ANSWERS.contains(status.getCode())) {
				this.attempt.markUnanswered();
			}
			super.onClose(status, trailers);
		}

	}

}
