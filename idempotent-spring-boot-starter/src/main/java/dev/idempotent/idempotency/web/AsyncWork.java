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
 * The work of a handler that answers asynchronously. It may go on after its request has
 * timed out. Its end is known for a {@link Callable}, for a {@link CompletionStage} that
 * the handler returned, and for a context that is completed; not for other kinds.
 */
final class AsyncWork implements CallableProcessingInterceptor {

	private final CompletableFuture<@Nullable Object> end = new CompletableFuture<>();

	private final AtomicReference<Task> task = new AtomicReference<>(Task.NONE);

	private volatile boolean timedOut;

	/**
	 * Watches what the handler has returned.
	 * @param type the type that the handler method declares
	 * @return what Spring MVC may have in its place: with Reactor on the class path it
	 * cancels a future whose request has timed out, and nobody would learn of the end
	 */
	@Nullable Object returned(Class<?> type, @Nullable Object value) {
		if (value instanceof CompletionStage<?> stage) {
			stage.whenComplete((result, failure) -> ended((failure != null) ? failure : result));
		}
		return (value instanceof CompletableFuture<?> future && type.isAssignableFrom(CompletableFuture.class))
				? future.copy() : value;
	}

	/**
	 * Notes that the request has timed out. A task that waits for a thread is not begun.
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
	 * Notes the end.
	 * @param result what the work has resulted in, or its exception
	 */
	void ended(@Nullable Object result) {
		// Spring MVC interrupts a task whose request has timed out, but not its end.
		boolean interrupted = Thread.interrupted();
		this.end.complete(result);
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Calls back when the work has ended.
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
			throw new CancellationException("The request has timed out before its task was begun");
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
