package dev.idempotent.idempotency.web;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;

/**
 * Tracks the work of a handler that responds asynchronously, which may continue after its
 * request has timed out. Its end is known for a {@link Callable}, for a
 * {@link CompletionStage} that the handler returned, and for a context that is completed.
 */
final class AsyncWorkTracker implements CallableProcessingInterceptor {

	private final CompletableFuture<@Nullable Object> end = new CompletableFuture<>();

	private final AtomicReference<Task> task = new AtomicReference<>(Task.NONE);

	private volatile boolean timedOut;

	/**
	 * Tracks the value that the handler has returned.
	 * @param type the declared return type of the handler method
	 * @return the value for Spring MVC: a copy of a future, because with Reactor on the
	 * class path Spring MVC cancels a future whose request has timed out
	 */
	@Nullable Object returned(Class<?> type, @Nullable Object value) {
		if (value instanceof CompletionStage<?> stage) {
			stage.whenComplete((result, failure) -> ended((failure != null) ? failure : result));
		}
		return (value instanceof CompletableFuture<?> future && type.isAssignableFrom(CompletableFuture.class))
				? future.copy() : value;
	}

	/**
	 * Records that the request has timed out. A task that still waits for a thread will
	 * not start.
	 */
	void timeOut() {
		this.timedOut = true;
		if (this.task.compareAndSet(Task.WAITING, Task.DROPPED)) {
			ended(new CancellationException());
		}
	}

	boolean isTimedOut() {
		return this.timedOut;
	}

	/**
	 * Records the end of the work.
	 * @param result the result of the work, or its exception
	 */
	void ended(@Nullable Object result) {
		// Spring MVC interrupts a task whose request has timed out; callbacks must run.
		boolean interrupted = Thread.interrupted();
		this.end.complete(result);
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Registers a callback for the end of the work.
	 */
	void onEnd(Consumer<@Nullable Object> callback) {
		CompletableFuture<Void> unused = this.end.thenAccept(callback);
	}

	@Override
	public <T> void beforeConcurrentHandling(NativeWebRequest request, Callable<T> task) {
		this.task.set(Task.WAITING);
	}

	@Override
	public <T> void preProcess(NativeWebRequest request, Callable<T> task) {
		if (!this.task.compareAndSet(Task.WAITING, Task.RUNNING)) {
			throw new CancellationException("The request has timed out before its task started");
		}
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object result) {
		ended(result);
	}

	private enum Task {

		NONE, WAITING, RUNNING, DROPPED

	}

}
