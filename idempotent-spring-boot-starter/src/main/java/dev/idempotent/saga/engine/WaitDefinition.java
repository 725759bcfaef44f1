package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Optional;

import dev.idempotent.saga.SagaWait;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.store.JournalEntry;
import org.jspecify.annotations.Nullable;

/**
 * One wait of a saga's method for a signal, as the application has defined it.
 */
abstract class WaitDefinition<R extends @Nullable Object> implements SagaWait<R> {

	private final String name;

	private final Type type;

	WaitDefinition(String name, Type type) {
		this.name = name;
		this.type = type;
	}

	@Override
	public R within(Duration limit) {
		JournalEntry ended = await(limit);
		if (ended.isRefused()) {
			throw new StepRefusedException(String.valueOf(ended.reason()));
		}
		return value(ended);
	}

	@Override
	public Optional<R> orEmptyAfter(Duration limit) {
		if (this.type == Void.class) {
			throw new IllegalStateException("The wait for the signal '" + this.name
					+ "' has no type, so that its value is always empty: use arrivesWithin, or state the type of the value");
		}
		JournalEntry ended = await(limit);
		return ended.isRefused() ? Optional.empty() : Optional.ofNullable(value(ended));
	}

	@Override
	public boolean arrivesWithin(Duration limit) {
		return !await(limit).isRefused();
	}

	@SuppressWarnings({ "unchecked", "NullAway" })
	private R value(JournalEntry ended) {
		return (R) read(ended, this.type);
	}

	/**
	 * Waits, or returns what is recorded.
	 * @return the entry, which is refused if the signal did not arrive in time
	 */
	abstract JournalEntry await(Duration limit);

	/**
	 * Reads the value of the signal.
	 */
	abstract @Nullable Object read(JournalEntry ended, Type type);

}
