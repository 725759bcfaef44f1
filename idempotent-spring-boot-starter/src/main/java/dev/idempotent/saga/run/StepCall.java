package dev.idempotent.saga.run;

import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.saga.SagaStep;
import org.jspecify.annotations.Nullable;

/**
 * One step of a body: its action, and how it is undone.
 */
final class StepCall<R extends @Nullable Object> implements SagaStep<R> {

	private static final int FIRST_CLIENT_ERROR = 400;

	private static final int LAST_CLIENT_ERROR = 499;

	private final SagaBody body;

	private final String name;

	private final Type type;

	private final Set<Integer> refusals = new HashSet<>();

	private @Nullable Consumer<? super R> compensation;

	private @Nullable Consumer<String> cancellation;

	private boolean cancellationTakesKey;

	private @Nullable Function<String, ? extends @Nullable Object> action;

	private boolean actionTakesKey;

	StepCall(SagaBody body, String name, Type type) {
		this.body = body;
		this.name = name;
		this.type = type;
	}

	@Override
	public SagaStep<R> compensate(Consumer<? super R> undo) {
		requireNoUndo();
		this.compensation = undo;
		return this;
	}

	@Override
	public SagaStep<R> compensate(Runnable undo) {
		return compensate((result) -> undo.run());
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
		for (int status : statuses) {
			if (status < FIRST_CLIENT_ERROR || status > LAST_CLIENT_ERROR) {
				throw new IllegalArgumentException("The step '" + this.name + "' cannot be refused by " + status
						+ ": name statuses of the form 4xx");
			}
			this.refusals.add(status);
		}
		return this;
	}

	@Override
	public R runInTransaction(Supplier<? extends R> work) {
		if (this.cancellation != null) {
			throw new IllegalStateException("The step '" + this.name
					+ "' has a cancellation, but runs in a transaction: use compensate, or run it outside");
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

	String name() {
		return this.name;
	}

	Type type() {
		return this.type;
	}

	/**
	 * Whether the application sends the key of the action itself.
	 */
	boolean actionTakesKey() {
		return this.actionTakesKey;
	}

	boolean cancellationTakesKey() {
		return this.cancellationTakesKey;
	}

	/**
	 * The statuses by which the service refuses the action.
	 */
	Set<Integer> refusals() {
		return this.refusals;
	}

	/**
	 * Calls the action.
	 */
	@Nullable Object act(String key) {
		Object result = Objects.requireNonNull(this.action, "The step was not run").apply(key);
		this.body.requireNoMisuse();
		return result;
	}

	/**
	 * Calls the undo action that needs the result.
	 */
	@SuppressWarnings("unchecked")
	void compensateResult(@Nullable Object result) {
		((Consumer<@Nullable Object>) Objects.requireNonNull(this.compensation)).accept(result);
		this.body.requireNoMisuse();
	}

	/**
	 * Calls the cancellation of the action that has a key.
	 */
	void cancelAction(String key) {
		Objects.requireNonNull(this.cancellation).accept(key);
		this.body.requireNoMisuse();
	}

	private StepKind callKind() {
		if (this.cancellation != null) {
			return StepKind.CANCELLED_CALL;
		}
		return (this.compensation != null) ? StepKind.COMPENSATED_CALL : StepKind.CALL;
	}

	@SuppressWarnings({ "unchecked", "NullAway" })
	private R run(Function<String, ? extends @Nullable Object> work, StepKind kind) {
		this.action = work;
		return (R) this.body.step(this, kind);
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
