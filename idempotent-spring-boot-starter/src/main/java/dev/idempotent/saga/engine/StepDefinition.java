package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyContext.Criteria;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.idempotency.ServiceResponse;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.engine.StepVerdict.Attempt;
import dev.idempotent.saga.engine.StepVerdict.Rules;
import dev.idempotent.saga.store.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * One step of a saga's method: its action and its undo as the application has defined
 * them, and what each call of them must prove.
 */
abstract class StepDefinition<R extends @Nullable Object> implements SagaStep<R> {

	private static final int FIRST_CLIENT_ERROR = 400;

	private static final int LAST_CLIENT_ERROR = 499;

	private static final Pattern POINTER = Pattern.compile("(?:/(?:[^/~]|~[01])*)+");

	private static final String WHERE_TO_LIST = ". If it leads to the service of the step, list that location in "
			+ "idempotent.client.targets; if its calls may be repeated without a key, such as the request of a token, "
			+ "list it in idempotent.client.repeatable";

	private final String name;

	private final Type type;

	private final Set<Integer> refusals = new HashSet<>();

	private final Set<Class<? extends Throwable>> refusalTypes = new HashSet<>();

	private final Set<Integer> undone = new HashSet<>();

	private @Nullable Predicate<ServiceResponse> refusal;

	private @Nullable Predicate<ServiceResponse> undoing;

	private @Nullable Predicate<ServiceResponse> proof;

	private @Nullable Duration timeout;

	private @Nullable BiConsumer<? super R, String> compensation;

	private boolean compensationTakesKey;

	private @Nullable Consumer<String> cancellation;

	private boolean cancellationTakesKey;

	private @Nullable Function<String, ? extends @Nullable Object> action;

	private boolean actionTakesKey;

	private boolean atMostOnce;

	StepDefinition(String name, Type type) {
		this.name = name;
		this.type = type;
	}

	@Override
	public SagaStep<R> compensate(Consumer<? super R> undo) {
		requireNoUndo();
		this.compensation = (result, key) -> undo.accept(result);
		return this;
	}

	@Override
	public SagaStep<R> compensate(Runnable undo) {
		return compensate((result) -> undo.run());
	}

	@Override
	public SagaStep<R> compensate(BiConsumer<? super R, String> undo) {
		requireNoUndo();
		this.compensation = undo;
		this.compensationTakesKey = true;
		return this;
	}

	@Override
	public SagaStep<R> cancel(Runnable undo) {
		requireNoUndo();
		this.cancellation = (key) -> undo.run();
		return this;
	}

	@Override
	public SagaStep<R> cancel(Consumer<String> undo) {
		requireNoUndo();
		this.cancellation = undo;
		this.cancellationTakesKey = true;
		return this;
	}

	@Override
	public SagaStep<R> refusedBy(int... statuses) {
		addTo(this.refusals, "refused", statuses);
		return this;
	}

	@Override
	public SagaStep<R> refusedBy(Predicate<ServiceResponse> condition) {
		this.refusal = (this.refusal != null) ? this.refusal.or(condition) : condition;
		return this;
	}

	@Override
	public SagaStep<R> refusedWhen(Class<? extends Throwable> type) {
		this.refusalTypes.add(type);
		return this;
	}

	@Override
	public SagaStep<R> undoneBy(int... statuses) {
		addTo(this.undone, "undone", statuses);
		return this;
	}

	@Override
	public SagaStep<R> undoneBy(Predicate<ServiceResponse> condition) {
		this.undoing = (this.undoing != null) ? this.undoing.or(condition) : condition;
		return this;
	}

	@Override
	public SagaStep<R> provenBy(Predicate<ServiceResponse> required) {
		this.proof = (this.proof != null) ? this.proof.and(required) : required;
		return this;
	}

	@Override
	public SagaStep<R> provenBy(String... pointers) {
		List<String> values = List.of(pointers);
		values.forEach((pointer) -> {
			if (!POINTER.matcher(pointer).matches()) {
				throw new IllegalArgumentException("The step '" + this.name + "' cannot be proven by '" + pointer
						+ "', which is not a JSON pointer such as /id or /error/code");
			}
		});
		if (values.isEmpty()) {
			throw new IllegalArgumentException(
					"The step '" + this.name + "' names no JSON pointer that proves the response");
		}
		return provenBy((response) -> values.stream().anyMatch((pointer) -> hasValue(response.body(), pointer)));
	}

	@Override
	public SagaStep<R> timeout(Duration limit) {
		if (limit.isNegative() || limit.isZero()) {
			throw new IllegalArgumentException(
					"The time limit of the step '" + this.name + "' is " + limit + ", but must be positive");
		}
		this.timeout = limit;
		return this;
	}

	@Override
	public SagaStep<R> atMostOnce() {
		this.atMostOnce = true;
		return this;
	}

	private void addTo(Set<Integer> named, String what, int... statuses) {
		for (int status : statuses) {
			if (status < FIRST_CLIENT_ERROR || status > LAST_CLIENT_ERROR) {
				throw new IllegalArgumentException("The step '" + this.name + "' cannot be " + what + " by " + status
						+ ": name statuses of the form 4xx");
			}
			named.add(status);
		}
	}

	@Override
	public R runInTransaction(Supplier<? extends R> work) {
		if (this.cancellation != null) {
			throw new IllegalStateException("The step '" + this.name
					+ "' has a cancellation, but runs in a transaction: use compensate, or run it outside");
		}
		if (this.timeout != null) {
			throw new IllegalStateException("The step '" + this.name
					+ "' has a time limit, but runs in a transaction: use the time-outs of the transaction manager");
		}
		if (this.atMostOnce) {
			throw new IllegalStateException("The step '" + this.name + "' is called at most once, but runs in a "
					+ "transaction, which is rolled back and repeated: remove atMostOnce, or run it outside");
		}
		return run((key) -> work.get(),
				(this.compensation != null) ? StepKind.COMPENSATED_TRANSACTION : StepKind.TRANSACTION);
	}

	@Override
	public void runInTransaction(Runnable work) {
		R unused = runInTransaction(() -> {
			work.run();
			return none();
		});
	}

	@Override
	public R run(Supplier<? extends R> call) {
		return run((key) -> call.get(), callKind());
	}

	@Override
	public void run(Runnable call) {
		R unused = run((key) -> {
			call.run();
			return none();
		}, callKind());
	}

	@Override
	public R run(Function<String, ? extends R> call) {
		this.actionTakesKey = true;
		return run(call, callKind());
	}

	/**
	 * Runs the step, or returns what is recorded of it.
	 */
	abstract @Nullable Object run(StepKind kind);

	/**
	 * Returns whether a text is JSON and has a value that is not null at a place.
	 * @param pointer a JSON pointer
	 */
	abstract boolean hasValue(String json, String pointer);

	/**
	 * Requires that the running action or undo has not used the saga.
	 */
	abstract void requireNoMisuse();

	String name() {
		return this.name;
	}

	Type type() {
		return this.type;
	}

	/**
	 * The time limit of each call of the action and the undo, or {@code null}.
	 */
	@Nullable Duration timeout() {
		return this.timeout;
	}

	/**
	 * Whether neither the action nor the compensation is repeated by the saga itself.
	 */
	boolean isAtMostOnce() {
		return this.atMostOnce;
	}

	/**
	 * Whether the application sends the key of the action itself.
	 */
	boolean actionTakesKey() {
		return this.actionTakesKey;
	}

	/**
	 * Returns the context of an action that was not called before, or has made no call
	 * under its key. Its only call carries the key of the step, which depends on no
	 * target or URL. If the application sends that key itself, other calls get keys of
	 * their own.
	 */
	IdempotencyContext firstContext(IdempotencyKey key, String process) {
		return judging(this.refusal, this.actionTakesKey, this.actionTakesKey ? new IdempotencyContext(key, process)
				: IdempotencyContext.forSingleCall(key, process, null));
	}

	/**
	 * Returns the context of an action that may have been called before.
	 * @param earlierCall its call, or {@code null} if that is not known
	 */
	IdempotencyContext repeatedContext(IdempotencyKey key, String process, @Nullable String earlierCall) {
		return judging(this.refusal, this.actionTakesKey, this.actionTakesKey ? new IdempotencyContext(key, process)
				: IdempotencyContext.forSingleCall(key, process, null, earlierCall));
	}

	/**
	 * Returns the context of an undo.
	 */
	IdempotencyContext undoContext(IdempotencyContext context) {
		return judging(this.undoing, this.cancellationTakesKey, context);
	}

	/**
	 * Only a participant, which sends receipts, can be cancelled by the key of its call.
	 */
	private IdempotencyContext judging(@Nullable Predicate<ServiceResponse> named, boolean takesKey,
			IdempotencyContext context) {
		boolean participant = this.proof == null && this.cancellation != null && !takesKey;
		return context.withCriteria(
				new Criteria(participant ? ServiceResponse::hasReceipt : this.proof, this.proof != null, named));
	}

	/**
	 * Whether the action must make a call under the key of the step, which its
	 * cancellation names.
	 */
	boolean isCancelledByKey() {
		return this.cancellation != null && !this.actionTakesKey;
	}

	/**
	 * Whether the application sends the key of the undo itself.
	 */
	boolean undoTakesKey() {
		return this.compensationTakesKey || this.cancellationTakesKey;
	}

	/**
	 * What an attempt of the action proves.
	 * @param repeatsCall whether an attempt before may have made a call, which this one
	 * was to repeat
	 */
	StepVerdict verdictOfAction(@Nullable Throwable failure, @Nullable Integer status, IdempotencyContext context,
			boolean first, boolean repeatsCall) {
		return StepVerdict
			.ofAction(new Attempt(failure, status, context.calls(), first, rules(), context.hasEffect(), repeatsCall));
	}

	/**
	 * What an attempt of the undo proves.
	 */
	StepVerdict verdictOfUndo(@Nullable Throwable failure, @Nullable Integer status, IdempotencyContext context,
			boolean first) {
		return StepVerdict
			.ofUndo(new Attempt(failure, status, context.calls(), first, rules(), context.hasEffect(), false));
	}

	/**
	 * Whether the step names an exception as a refusal.
	 */
	boolean isRefusedWhen(Throwable failure) {
		return rules().isRefusedWhen(failure);
	}

	private Rules rules() {
		return new Rules(this.refusals, this.refusalTypes, this.undone);
	}

	/**
	 * Calls the action.
	 * @throws RunAbortedError if it has returned and is not known to be done
	 */
	@Nullable Object act(IdempotencyContext context) {
		Function<String, ? extends @Nullable Object> work = Objects.requireNonNull(this.action, "The step was not run");
		Object result = bound(context, () -> work.apply(context.key().digest()));
		requireOneCall(context);
		requireNotRefused(context);
		if (isCancelledByKey()) {
			requireCall(context);
		}
		requireDone(context);
		return result;
	}

	/**
	 * Calls the undo action that needs the result.
	 * @throws RunAbortedError if it has returned and is not known to be done
	 */
	@SuppressWarnings("unchecked")
	void compensate(IdempotencyContext context, @Nullable Object result) {
		BiConsumer<@Nullable Object, String> undo = (BiConsumer<@Nullable Object, String>) Objects
			.requireNonNull(this.compensation);
		bound(context, () -> {
			undo.accept(result, context.key().digest());
			return null;
		});
		requireOneCall(context);
		requireDone(context);
	}

	/**
	 * Calls the cancellation of the action that has a key.
	 * @throws RunAbortedError if it has returned and is not known to be done
	 */
	void cancel(IdempotencyContext context, String key) {
		Consumer<String> undo = Objects.requireNonNull(this.cancellation);
		bound(context, () -> {
			undo.accept(key);
			return null;
		});
		requireOneCall(context);
		if (!this.cancellationTakesKey) {
			requireCall(context);
		}
		requireDone(context);
	}

	/**
	 * Fails if the action has returned although the response to one of its calls is one
	 * that the step names as a refusal.
	 */
	private void requireNotRefused(IdempotencyContext context) {
		Answer answer = context.namedAnswer();
		if (answer == null) {
			return;
		}
		if (context.calls().made() > 1) {
			throw new RunAbortedError(Cause.UNKNOWN, HaltReason.RETURNED_AFTER_REFUSAL.text(this.name, answer.status()),
					null);
		}
		throw new StepRefusedException(
				"The service has refused by a response that the step names (" + answer.status() + ")");
	}

	private @Nullable Object bound(IdempotencyContext context, Supplier<? extends @Nullable Object> work) {
		IdempotencyContext outer = IdempotencyContext.bind(context);
		try {
			Object result = work.get();
			requireNoMisuse();
			return result;
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	/**
	 * Aborts the run if no call carried a key: the service would not find the call to
	 * cancel, or repeat its cancellation.
	 */
	private void requireCall(IdempotencyContext context) {
		if (context.calls().keyed() == 0) {
			throw new RunAbortedError(Cause.HALT, HaltReason.NO_KEY_SENT.text(this.name), null);
		}
	}

	/**
	 * Aborts the run if the step names a proof, and its action or undo has returned
	 * without a response that could show it. It would do that in each attempt.
	 */
	void requireJudgedCall(IdempotencyContext context) {
		if (this.proof != null && !context.hasJudgedResponse()) {
			throw new RunAbortedError(Cause.HALT, HaltReason.RESPONSE_NOT_JUDGED.text(this.name), null);
		}
	}

	/**
	 * Aborts the run if an action or undo has tried to make a second call under its key,
	 * another one than an earlier attempt, or only one without a key although an earlier
	 * attempt may have made its call. It would try that in each attempt, and the first
	 * call may be done.
	 */
	void requireOneCall(IdempotencyContext context) {
		String change = context.changeOfCall();
		if (change != null) {
			throw new RunAbortedError(Cause.HALT, HaltReason.CALL_CHANGED.text(this.name, change), null);
		}
		if (context.isSingleCall() && context.calls().keyed() > 1) {
			throw new RunAbortedError(Cause.HALT, HaltReason.SECOND_CALL.text(this.name), null);
		}
		if (context.hasRefusedKeylessCall() && context.calls().keyed() == 0) {
			throw new RunAbortedError(Cause.HALT, HaltReason.CALL_TO_NO_TARGET.text(this.name, WHERE_TO_LIST), null);
		}
	}

	/**
	 * Returns what to do about a call that would have carried no key.
	 * @return the end of a sentence, empty if there was no such call
	 */
	static String adviceOn(IdempotencyContext context) {
		return context.hasRefusedKeylessCall() ? ". " + HaltReason.OTHER_CALL_TO_NO_TARGET.text() + WHERE_TO_LIST : "";
	}

	/**
	 * Returns what is missing in a response.
	 * @return the end of a sentence, empty if it has the proof
	 */
	static String adviceOnProof(@Nullable Answer answer) {
		if (answer == null) {
			return "";
		}
		if (answer.evidence().isCredible()) {
			return StepVerdict.mayBeInProgress(answer) ? ". " + HaltReason.MAY_BE_IN_PROGRESS.text(answer.status())
					: "";
		}
		return ". " + ((answer.evidence() == Evidence.OPEN) ? HaltReason.OTHER_RECEIPT.text()
				: HaltReason.NO_PROOF.text(IdempotencyReceipt.HEADER));
	}

	/**
	 * Aborts the run if an action or undo has returned although one of its calls is not
	 * known to be done: it was redirected, its failure was ignored, or the response lacks
	 * the proof of the service.
	 */
	private void requireDone(IdempotencyContext context) {
		Calls calls = context.calls();
		if (verdictOfAction(null, null, context, false, false) != StepVerdict.DONE) {
			Answer answer = calls.lastAnswer();
			throw new RunAbortedError(Cause.UNKNOWN,
					HaltReason.RETURNED_WITHOUT_SUCCESS.text(this.name, calls.open(), calls.made(),
							((answer != null) ? ". The last status was " + answer.status() : "") + adviceOnProof(answer)
									+ adviceOn(context)),
					null);
		}
	}

	private StepKind callKind() {
		if (this.cancellation != null) {
			return StepKind.CANCELLED_CALL;
		}
		return (this.compensation != null) ? StepKind.COMPENSATED_CALL : StepKind.CALL;
	}

	@SuppressWarnings({ "unchecked", "NullAway" })
	private R run(Function<String, ? extends @Nullable Object> work, StepKind kind) {
		if (this.atMostOnce && this.cancellation != null && !this.cancellationTakesKey) {
			throw new IllegalStateException("The step '" + this.name + "' is called at most once, but is undone by a "
					+ "cancellation at a participant, which recognizes repeated calls: remove atMostOnce, or use "
					+ "compensate");
		}
		this.action = work;
		return (R) run(kind);
	}

	@SuppressWarnings("NullAway")
	private R none() {
		return null;
	}

	private void requireNoUndo() {
		if (this.compensation != null || this.cancellation != null) {
			throw new IllegalStateException("The step '" + this.name + "' already has an undo action");
		}
	}

}
