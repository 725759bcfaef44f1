package dev.idempotent.saga;

import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.idempotent.idempotency.ServiceResponse;
import org.jspecify.annotations.Nullable;

/**
 * A step of a saga. Declare how it is undone, if it can be undone, and then run its
 * action. A step runs once, on the thread of its saga, outside transactions and other
 * steps; otherwise it throws an {@link IllegalStateException}.
 * <p>
 * The result is recorded as JSON, and every run gets the value that is read back. An
 * action that refuses throws a {@link StepRefusedException}; so does the step, in every
 * run. If the saga cannot continue in this run, for example because the outcome of the
 * action is unknown, the step throws an {@link Error}, which the method must not catch.
 *
 * @param <R> the type of the result
 */
public interface SagaStep<R extends @Nullable Object> {

	/**
	 * Undoes the step by an action that needs its result. If the outcome of the step is
	 * unknown, it is repeated first, with the same key.
	 * @param undo undoes the step; in a transaction if the step runs in one. Gets
	 * {@code null} if the action has returned {@code null}
	 * @return this step
	 * @throws IllegalStateException if the step already has an undo action
	 */
	SagaStep<R> compensate(Consumer<? super R> undo);

	/**
	 * Undoes the step by an action that does not use its result. Otherwise the same as
	 * {@link #compensate(Consumer)}.
	 * @param undo undoes the step; in a transaction if the step runs in one
	 * @return this step
	 * @throws IllegalStateException if the step already has an undo action
	 */
	SagaStep<R> compensate(Runnable undo);

	/**
	 * Undoes the step by an action that gets its result and the key of the undo, for
	 * clients that send the key themselves. Otherwise the same as
	 * {@link #compensate(Consumer)}.
	 * @param undo undoes the step; in a transaction if the step runs in one. The key has
	 * 64 hexadecimal digits and is the same in every attempt
	 * @return this step
	 * @throws IllegalStateException if the step already has an undo action
	 */
	SagaStep<R> compensate(BiConsumer<? super R, String> undo);

	/**
	 * Undoes the step by a cancellation, whether the action was done, was refused, has an
	 * unknown outcome or has not arrived. The action and the cancellation each make one
	 * call to a service whose handler for the cancellation is annotated with
	 * {@link dev.idempotent.idempotency.Cancels @Cancels}. Such a step cannot run in a
	 * transaction. A response counts only if it has the
	 * {@linkplain dev.idempotent.idempotency.IdempotencyReceipt receipt} of that service,
	 * or what {@link #provenBy} names.
	 * @param undo cancels the action
	 * @return this step
	 * @throws IllegalStateException if the step already has an undo action
	 */
	SagaStep<R> cancel(Runnable undo);

	/**
	 * Undoes the step by a cancellation, as {@link #cancel(Runnable)} does, at a service
	 * that does not take the key from a header. It is also called for an action that was
	 * refused or has never arrived, which the service must accept. One that answers
	 * {@code 404} then is undone by {@link #compensate} and {@link #undoneBy
	 * undoneBy(404)}.
	 * @param undo cancels the action that has the given key
	 * @return this step
	 * @throws IllegalStateException if the step already has an undo action
	 */
	SagaStep<R> cancel(Consumer<String> undo);

	/**
	 * Names statuses by which the called service refuses the action, such as a
	 * {@code 403} that reports a blocked account. Besides these, each {@code 4xx} after
	 * which a retry would end in the same way is a refusal. By {@code 408}, {@code 409},
	 * {@code 422}, {@code 423}, {@code 425} and {@code 429}, services also report that a
	 * request is in progress: they are believed only with a receipt or as a replay.
	 * Otherwise name what distinguishes the response by {@link #refusedBy(Predicate)}.
	 * @param statuses statuses from 400 to 499
	 * @return this step
	 * @throws IllegalArgumentException for another status
	 */
	SagaStep<R> refusedBy(int... statuses);

	/**
	 * Names the responses by which the called service refuses the action, such as those
	 * with the code of an error, whatever their status from 200 to 299 or 400 to 499. Can
	 * be called for several conditions.
	 * @param condition returns whether a response is a refusal, and must not be true for
	 * one that reports a request in progress
	 * @return this step
	 */
	SagaStep<R> refusedBy(Predicate<ServiceResponse> condition);

	/**
	 * Names an exception by which the action refuses, such as the one that a status
	 * handler of a client throws for a declined card, or that the own client of a
	 * provider throws. After an observed call, the exception is believed as the response
	 * of that call is, and so is a {@link StepRefusedException}. In a transaction, a
	 * retry could succeed after some exceptions, such as one of an optimistic lock: named
	 * here, it is a refusal. Can be called for several exceptions.
	 * @param type the exception, also as a cause
	 * @return this step
	 */
	SagaStep<R> refusedWhen(Class<? extends Throwable> type);

	/**
	 * Names statuses by which the called service reports that the step was undone before,
	 * such as {@code 404}. Otherwise an undo that is refused halts the saga. A page for a
	 * browser reports nothing. By {@code 408}, {@code 409}, {@code 422}, {@code 423},
	 * {@code 425} and {@code 429}, services also report that a request is in progress:
	 * they are believed only with a receipt or as a replay. Otherwise name what
	 * distinguishes the response by {@link #undoneBy(Predicate)}.
	 * @param statuses statuses from 400 to 499
	 * @return this step
	 * @throws IllegalArgumentException for another status
	 */
	SagaStep<R> undoneBy(int... statuses);

	/**
	 * Names the responses by which the called service reports that the step was undone
	 * before, such as a {@code 400} whose code says that the charge was refunded. Can be
	 * called for several conditions.
	 * @param condition returns whether a response with a status from 400 to 499 reports
	 * that, and must not be true for one that reports a request in progress
	 * @return this step
	 */
	SagaStep<R> undoneBy(Predicate<ServiceResponse> condition);

	/**
	 * Names what proves that the called service itself has answered, and not a gateway in
	 * front of it. A response to the action or the undo counts only with this proof,
	 * whatever its status, and whether or not the call carries a key; the response to a
	 * look-up is judged only if there is no other call. Calls of services in
	 * {@code idempotent.client.repeatable} are not judged. If the action or the undo
	 * returns without a response that was judged, the saga halts. Can be called for
	 * several proofs, all of which a response needs.
	 * @param proof returns whether the service has sent the response
	 * @return this step
	 */
	SagaStep<R> provenBy(Predicate<ServiceResponse> proof);

	/**
	 * Names values in the JSON of a response that prove that the called service itself
	 * has answered, such as {@code /id} for a charge and {@code /error/code} for a
	 * refusal. Otherwise the same as {@link #provenBy(Predicate)}.
	 * @param pointers JSON pointers; one of them leads to a value that is not null
	 * @return this step
	 * @throws IllegalArgumentException if there is none, or one is not a JSON pointer to
	 * a part of a document
	 */
	SagaStep<R> provenBy(String... pointers);

	/**
	 * Limits the time of each call of the action and of the undo, in place of
	 * {@code idempotent.saga.step-timeout}. After it, the thread of the call is
	 * interrupted, the outcome is unknown, and what comes back later counts for nothing.
	 * Such a step cannot run in a transaction.
	 * @param limit the limit
	 * @return this step
	 * @throws IllegalArgumentException if the limit is not positive
	 */
	SagaStep<R> timeout(Duration limit);

	/**
	 * Calls the action and the compensation at most once, at a service that does not
	 * recognize a repeated call. If the outcome of one is unknown, also because the
	 * process has died, the saga halts, and an operator finds out at the service what was
	 * done. Only an operator's retry makes the call again. Such a step cannot run in a
	 * transaction, nor be undone by {@link #cancel(Runnable)}.
	 * @return this step
	 */
	SagaStep<R> atMostOnce();

	/**
	 * Runs the action in a transaction that also records the step: both commit, or
	 * neither.
	 * @param action the action
	 * @return the result
	 * @throws StepRefusedException if the action throws an exception, unless a retry may
	 * succeed, such as after a deadlock
	 * @throws IllegalStateException if the step is undone by a cancellation, has a time
	 * limit, or is called at most once
	 */
	R runInTransaction(Supplier<? extends R> action);

	/**
	 * Runs the action in a transaction that also records the step: both commit, or
	 * neither.
	 * @param action the action
	 * @throws StepRefusedException if the action throws an exception, unless a retry may
	 * succeed, such as after a deadlock
	 * @throws IllegalStateException if the step is undone by a cancellation, has a time
	 * limit, or is called at most once
	 */
	void runInTransaction(Runnable action);

	/**
	 * Runs the action outside a transaction. It is repeated with the same key until its
	 * outcome is known, unless it is called {@linkplain #atMostOnce() at most once}.
	 * @param action the action
	 * @return the result
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	R run(Supplier<? extends R> action);

	/**
	 * Runs the action outside a transaction. It is repeated with the same key until its
	 * outcome is known, unless it is called {@linkplain #atMostOnce() at most once}.
	 * @param action the action
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	void run(Runnable action);

	/**
	 * Runs an action that sends the key of the step itself, outside a transaction. It is
	 * repeated with the same key until its outcome is known, unless it is called
	 * {@linkplain #atMostOnce() at most once}.
	 * @param action the action, which gets the key: 64 hexadecimal digits, the same in
	 * every attempt
	 * @return the result
	 * @throws StepRefusedException if the action throws one, or is refused by the service
	 * that it calls
	 */
	R run(Function<String, ? extends R> action);

}
