package dev.idempotent.saga;

import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A step of a saga: optionally how it is undone, then the action. A step runs on the
 * thread of its saga, outside any transaction and outside other steps.
 * <p>
 * The result is recorded as JSON, and every run gets what is read back. An action that
 * refuses throws a {@link StepRefusedException}; so does the step, in every run.
 *
 * @param <R> the type of the result
 */
public interface SagaStep<R extends @Nullable Object> {

	/**
	 * Undoes the step by an action that needs its result. If the outcome of the step is
	 * unknown, it is repeated first, with the same key.
	 * @param undo undoes the step; in a transaction if the step runs in one
	 * @return this step
	 */
	SagaStep<R> compensate(Consumer<? super R> undo);

	/**
	 * Undoes the step by an action that does not use its result.
	 * @param undo undoes the step; in a transaction if the step runs in one
	 * @return this step
	 */
	SagaStep<R> compensate(Runnable undo);

	/**
	 * Undoes the step by a cancellation, whether the action was done, refused, is unknown
	 * or never arrived. The action and the cancellation each make one call to a service
	 * that has the handler of the cancellation annotated with
	 * {@link dev.idempotent.idempotency.Cancels @Cancels}.
	 * @param undo cancels the action
	 * @return this step
	 */
	SagaStep<R> cancel(Runnable undo);

	/**
	 * Undoes the step by a cancellation, as {@link #cancel(Runnable)} does, of a service
	 * that takes the key in another way than in a header.
	 * @param undo cancels the action that has the given key
	 * @return this step
	 */
	SagaStep<R> cancel(Consumer<String> undo);

	/**
	 * Runs the action in a transaction that also records the step: both commit, or
	 * neither.
	 * @param action the action
	 * @return the result
	 * @throws StepRefusedException if the action throws an exception that another attempt
	 * would not mend
	 */
	R runInTransaction(Supplier<? extends R> action);

	/**
	 * Runs the action in a transaction that also records the step: both commit, or
	 * neither.
	 * @param action the action
	 * @throws StepRefusedException if the action throws an exception that another attempt
	 * would not mend
	 */
	void runInTransaction(Runnable action);

	/**
	 * Runs the action outside a transaction. It is repeated with the same key until its
	 * outcome is known.
	 * @param action the action
	 * @return the result
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	R run(Supplier<? extends R> action);

	/**
	 * Runs the action outside a transaction. It is repeated with the same key until its
	 * outcome is known.
	 * @param action the action
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	void run(Runnable action);

	/**
	 * Runs an action that sends the key itself, outside a transaction. It is repeated
	 * with the same key until its outcome is known.
	 * @param action the action, which gets the key: 64 hexadecimal digits, the same in
	 * every attempt
	 * @return the result
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	R run(Function<String, ? extends R> action);

}
