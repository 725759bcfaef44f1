package dev.idempotent.saga.method;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Captures the calls of saga methods that the calling thread makes, instead of running
 * them.
 */
final class CallCapture {

	private static final ThreadLocal<@Nullable CallCapture> current = new ThreadLocal<>();

	private final List<SagaInvocation> calls = new ArrayList<>();

	private CallCapture() {
	}

	/**
	 * Captures the one call that an action makes.
	 * @throws IllegalStateException if it makes none or several, or is itself captured
	 */
	static SagaInvocation of(Runnable action) {
		if (current.get() != null) {
			throw new IllegalStateException("Sagas.start is called within the call of another Sagas.start");
		}
		CallCapture capture = new CallCapture();
		current.set(capture);
		try {
			action.run();
		}
		finally {
			current.remove();
		}
		if (capture.calls.size() != 1) {
			throw new IllegalStateException("Sagas.start needs a call of exactly one @Saga method of another bean, "
					+ "such as () -> checkout.place(command), but it made " + capture.calls.size());
		}
		return capture.calls.get(0);
	}

	/**
	 * Returns the capture of the calling thread, or {@code null}.
	 */
	static @Nullable CallCapture current() {
		return current.get();
	}

	void add(SagaInvocation call) {
		this.calls.add(call);
	}

}
