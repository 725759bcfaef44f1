package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.run.RunEnd.Kind;
import dev.idempotent.saga.run.SagaStore.NewSaga;
import dev.idempotent.saga.run.SagaStore.StoredSaga;
import org.jspecify.annotations.Nullable;

/**
 * One call of a saga: runs it, or finds out how the saga with its id has ended. If its
 * own run was released, it waits and continues the saga.
 */
final class SagaCall {

	private static final long POLL_MILLIS = 100;

	/**
	 * How often a saga may appear and disappear during one call.
	 */
	private static final int MOST_FIRST_RUNS = 3;

	private final SagaRun.Resources resources;

	private final Function<SagaRun, RunEnd> driver;

	private final SagaDefinition definition;

	private final NewSaga saga;

	private final BooleanSupplier stopping;

	private final long giveUp;

	private boolean waits;

	private int firstRuns;

	/**
	 * Creates a call.
	 * @param stopping whether the process is stopping, so that another one should
	 * continue
	 */
	SagaCall(SagaRun.Resources resources, Function<SagaRun, RunEnd> driver, SagaDefinition definition, NewSaga saga,
			BooleanSupplier stopping) {
		this.resources = resources;
		this.driver = driver;
		this.definition = definition;
		this.saga = saga;
		this.stopping = stopping;
		this.giveUp = System.nanoTime() + resources.settings().waitTimeout().toNanos();
	}

	@Nullable Object run() throws Throwable {
		RunEnd end = first();
		while (true) {
			switch (end.kind()) {
				case COMPLETED -> {
					return end.result();
				}
				case COMPENSATED ->
					throw new SagaCompensatedException(this.saga.id(), Objects.requireNonNull(end.reason()));
				case HALTED -> throw new SagaHaltedException(this.saga.id());
				case CONTENDED -> throw new IdempotencyPendingException(this.saga.id(), this.saga.lease());
				case RELEASED, LOST -> this.waits = true;
				case EXISTS, REFUSED, FAILED -> {
				}
			}
			StoredSaga stored = find(end);
			if (stored == null) {
				end = first();
			}
			else if (!stored.status().isOpen()) {
				return ended(stored);
			}
			else {
				end = goOn(stored);
			}
		}
	}

	private RunEnd first() {
		if (this.firstRuns++ == MOST_FIRST_RUNS) {
			throw new IdempotencyPendingException(this.saga.id(), this.saga.lease());
		}
		return this.driver.apply(new SagaRun(this.resources, this.definition, this.saga));
	}

	/**
	 * Finds the saga that the call has begun, or that was there before.
	 * @return {@code null} if another first run is needed
	 */
	private @Nullable StoredSaga find(RunEnd end) throws Throwable {
		StoredSaga stored;
		try {
			stored = this.resources.store().find(this.saga.id());
		}
		catch (RuntimeException ex) {
			if (end.failure() != null) {
				ex.addSuppressed(end.failure());
			}
			throw ex;
		}
		if (stored == null && end.failure() != null) {
			throw end.failure();
		}
		if (stored == null && end.kind() == Kind.REFUSED) {
			throw new SagaCompensatedException(this.saga.id(), Objects.requireNonNull(end.reason()));
		}
		if (stored != null && this.saga.fingerprint().contradicts(stored.fingerprint())) {
			throw new IdempotencyMismatchException(this.saga.id());
		}
		return stored;
	}

	private @Nullable Object ended(StoredSaga stored) {
		return switch (stored.status()) {
			case COMPLETED -> this.definition.readResult(this.resources.unseal(Objects.requireNonNull(stored.result()),
					this.saga.id(), SagaRun.Resources.RESULT));
			case COMPENSATED -> throw new SagaCompensatedException(this.saga.id(),
					Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE));
			case HALTED -> throw new SagaHaltedException(this.saga.id());
			case STARTED, EXECUTING, COMPENSATING -> throw new IllegalStateException("The saga is open");
		};
	}

	/**
	 * Takes the saga over if it has no owner. Otherwise waits, but only for a saga that
	 * this call has run before.
	 */
	private RunEnd goOn(StoredSaga stored) {
		if (this.waits && this.stopping.getAsBoolean()) {
			throw new IdempotencyPendingException(this.saga.id(), Duration.ZERO);
		}
		Duration left = Duration.ofNanos(this.giveUp - System.nanoTime());
		boolean timedOut = left.isNegative() || left.isZero();
		if (stored.isDue() && !(this.waits && timedOut)) {
			SagaSettings settings = this.resources.settings();
			StoredSaga taken = this.resources.store().takeOver(this.saga.id(), settings.process(), settings.lease());
			if (taken != null) {
				this.resources.observers().takenOver(taken.name());
				return this.driver.apply(new SagaRun(this.resources, this.definition, taken));
			}
		}
		Duration due = stored.due().isNegative() ? Duration.ZERO : stored.due();
		if (!this.waits || timedOut || !pause(Math.min(POLL_MILLIS, left.toMillis()))) {
			throw new IdempotencyPendingException(this.saga.id(), due);
		}
		return RunEnd.of(Kind.RELEASED);
	}

	private static boolean pause(long millis) {
		try {
			Thread.sleep(Math.max(1, millis));
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
