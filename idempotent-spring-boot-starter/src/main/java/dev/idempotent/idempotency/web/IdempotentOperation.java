package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyTransactionSource;
import dev.idempotent.idempotency.IdempotencyTransactions;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.ParseException;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * What an annotated handler method asks for, checked and with the defaults filled in.
 *
 * @param name the operation that derived keys belong to
 * @param from where the key comes from unless there is an expression
 * @param key the expression that yields the key
 * @param lease how long a claim holds without renewal
 * @param retention how long a response is replayed
 * @param onPending what becomes of a duplicate while the first request runs
 * @param ignored what is left out of the fingerprint
 * @param transactions in which the work runs, or {@code null} under a lease alone
 */
record IdempotentOperation(String name, KeySource from, @Nullable KeyExpression key, Duration lease, Duration retention,
		OnPending onPending, Ignored ignored, @Nullable IdempotencyTransactions transactions) {

	private static final Duration MIN_DURATION = Duration.ofMillis(1);

	/**
	 * The operation of handlers that are not annotated: a header is needed, so no key is
	 * ever derived and the name does not matter.
	 * @param transactions in which the work runs, or {@code null} under a lease alone
	 */
	static IdempotentOperation ofRule(OperationDefaults defaults, @Nullable IdempotencyTransactions transactions) {
		return new IdempotentOperation("", KeySource.HEADER, null, defaults.lease(), defaults.retention(),
				OnPending.REJECT, Ignored.NOTHING, transactions);
	}

	/**
	 * Reads an annotation.
	 * @throws IdempotencyConfigurationException if it asks for what cannot be
	 */
	static IdempotentOperation of(Class<?> handlerType, Method method, Idempotent annotation,
			OperationDefaults defaults, @Nullable IdempotencyTransactionSource transactionSource) {
		String described = describe(handlerType, method);
		Duration lease = duration(described, "lease", annotation.lease(), defaults.lease());
		Duration retention = duration(described, "retention", annotation.retention(), defaults.retention());
		if (retention.compareTo(lease) < 0) {
			throw mistake(described, "has a retention of " + retention + ", shorter than its lease of " + lease,
					"Let the retention be at least as long as the lease.", null);
		}
		if (annotation.from() == KeySource.FINGERPRINT && annotation.key().isEmpty()
				&& annotation.retention().isEmpty()) {
			throw mistake(described, "takes its key from the fingerprint and states no retention",
					"Say for how long two equal requests are one, such as retention = \"1m\".", null);
		}
		Guarantee guarantee = (annotation.guarantee() != Guarantee.DEFAULT) ? annotation.guarantee()
				: defaults.guarantee();
		return new IdempotentOperation(annotation.name().isEmpty() ? described : annotation.name(), annotation.from(),
				expression(described, annotation.key()), lease, retention, annotation.onPending(),
				ignored(described, annotation.ignore()),
				(guarantee == Guarantee.TRANSACTION) ? transactions(handlerType, method, transactionSource) : null);
	}

	/**
	 * Finds the transactions of a handler method.
	 * @throws IdempotencyConfigurationException if it cannot have them
	 */
	static IdempotencyTransactions transactions(Class<?> handlerType, Method method,
			@Nullable IdempotencyTransactionSource transactionSource) {
		String described = describe(handlerType, method);
		if (AsynchronousReturn.isOf(method)) {
			throw mistake(described, "answers asynchronously, so Guarantee.TRANSACTION cannot hold for it",
					"Return the answer itself, or use Guarantee.LEASE.", null);
		}
		if (transactionSource == null) {
			throw mistake(described, "has Guarantee.TRANSACTION, and there is no database to keep it in",
					"Add spring-boot-starter-jdbc (or -data-jpa) with a DataSource, or use Guarantee.LEASE.", null);
		}
		return transactionSource.transactionsOf(handlerType, method);
	}

	boolean waits() {
		return this.onPending == OnPending.WAIT;
	}

	private static Duration duration(String described, String attribute, String text, Duration byDefault) {
		if (text.isEmpty()) {
			return byDefault;
		}
		try {
			Duration duration = DurationFormatterUtils.detectAndParse(text);
			if (duration.compareTo(MIN_DURATION) >= 0 && duration.compareTo(IdempotencyStore.MAX_DURATION) <= 0) {
				return duration;
			}
		}
		catch (IllegalArgumentException ex) {
			throw badDuration(described, attribute, text, ex);
		}
		throw badDuration(described, attribute, text, null);
	}

	private static @Nullable KeyExpression expression(String described, String text) {
		try {
			return text.isEmpty() ? null : KeyExpression.parse(text);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw mistake(described, "has the key expression '" + text + "': " + ex.getMessage(),
					"Correct the SpEL expression in its attribute 'key'.", ex);
		}
	}

	private static Ignored ignored(String described, String[] entries) {
		try {
			return Ignored.of(entries);
		}
		catch (IllegalArgumentException ex) {
			throw mistake(described, "ignores " + Arrays.toString(entries) + ": " + ex.getMessage(),
					"List names of parameters, and JSON pointers such as /requestedAt.", ex);
		}
	}

	private static IdempotencyConfigurationException badDuration(String described, String attribute, String text,
			@Nullable Exception cause) {
		return mistake(described,
				"has the " + attribute + " '" + text + "', which is no duration from a millisecond to ten years",
				"Write it like 30s, 24h or PT30S.", cause);
	}

	private static IdempotencyConfigurationException mistake(String described, String mistake, String action,
			@Nullable Exception cause) {
		return new IdempotencyConfigurationException("The @Idempotent method " + described + " " + mistake + ".",
				action, cause);
	}

	private static String describe(Class<?> handlerType, Method method) {
		return handlerType.getName() + "." + method.getName()
				+ Arrays.stream(method.getParameterTypes())
					.map(Class::getTypeName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

}
