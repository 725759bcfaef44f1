package dev.idempotent.idempotency.grpc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Sends a derived key as {@code idempotency-key} with each unary call that an idempotent
 * run makes: the same key for all attempts of a call, and a different one for each call.
 * Streaming calls, calls with a key of their own, and calls outside a run are left
 * unchanged. Add it to the channels of services that may receive keys.
 */
public final class IdempotencyKeyClientInterceptor implements ClientInterceptor {

	private static final Metadata.Key<String> KEY = Metadata.Key.of("idempotency-key",
			Metadata.ASCII_STRING_MARSHALLER);

	/**
	 * The status codes that a server would report again for a retry.
	 */
	private static final Set<Status.Code> ANSWERS = Set.of(Status.Code.OK, Status.Code.INVALID_ARGUMENT,
			Status.Code.NOT_FOUND, Status.Code.ALREADY_EXISTS, Status.Code.FAILED_PRECONDITION,
			Status.Code.OUT_OF_RANGE, Status.Code.UNIMPLEMENTED);

	private final String target;

	/**
	 * Creates the interceptor.
	 * @param target the name of the service, or of several services that have no method
	 * in common. It is part of the keys, so it must not change when a service moves
	 */
	public IdempotencyKeyClientInterceptor(String target) {
		this.target = target;
	}

	@Override
	public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
		IdempotencyContext run = IdempotencyContext.current();
		ClientCall<Q, R> call = next.newCall(method, options);
		if (run == null || method.getType() != MethodType.UNARY) {
			return call;
		}
		return new KeyedClientCall<>(call,
				(request) -> run.derive(this.target, method.getFullMethodName(), fingerprint(method, request)));
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

	/**
	 * A unary call that starts when its message is sent, because its key is derived from
	 * the message.
	 */
	private static final class KeyedClientCall<Q, R> extends SimpleForwardingClientCall<Q, R> {

		private final Function<Q, CallAttempt> attempts;

		private final List<Runnable> heldBack = new ArrayList<>();

		private @Nullable Listener<R> listener;

		private @Nullable Metadata headers;

		private boolean started;

		KeyedClientCall(ClientCall<Q, R> call, Function<Q, CallAttempt> attempts) {
			super(call);
			this.attempts = attempts;
		}

		@Override
		public void start(Listener<R> listener, Metadata headers) {
			synchronized (this) {
				this.listener = listener;
				this.headers = headers;
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
			Listener<R> caller = this.listener;
			Metadata sent = this.headers;
			if (this.started || caller == null || sent == null) {
				return;
			}
			this.started = true;
			if (message == null) {
				super.start(caller, sent);
			}
			else {
				CallAttempt attempt = this.attempts.apply(message);
				sent.put(KEY, Objects.requireNonNull(attempt.key()));
				super.start(mark(attempt, caller), sent);
			}
			this.heldBack.forEach(Runnable::run);
		}

		/**
		 * Marks the call as done, or as unanswered if a retry of the call could end
		 * differently.
		 */
		private static <R> Listener<R> mark(CallAttempt attempt, Listener<R> caller) {
			return new SimpleForwardingClientCallListener<>(caller) {

				@Override
				public void onClose(Status status, Metadata trailers) {
					if (status.isOk()) {
						attempt.markDone();
					}
					if (!ANSWERS.contains(status.getCode())) {
						attempt.markUnanswered();
					}
					super.onClose(status, trailers);
				}

			};
		}

	}

}
