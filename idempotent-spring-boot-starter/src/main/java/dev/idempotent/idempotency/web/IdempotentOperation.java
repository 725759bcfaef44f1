package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.OperationDefaults;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParseException;

/**
 * What an annotated handler method asks for, checked and with the defaults filled in.
 *
 * @param terms what holds for each run
 * @param from where the key comes from unless there is an expression
 * @param key the expression that yields the key
 * @param ignored what is left out of the fingerprint
 * @param transactions in which the work runs, or {@code null} under a lease alone
 */
record IdempotentOperation(OperationTerms terms, KeySource from, @Nullable RequestKeyExpression key,
		FingerprintExclusions ignored, @Nullable IdempotencyTransactions transactions) {

	/**
	 * The operation of handlers that are not annotated: a header is needed, so no key is
	 * ever derived and the name does not matter.
	 * @param transactions in which the work runs, or {@code null} under a lease alone
	 */
	static IdempotentOperation ofRule(OperationDefaults defaults, @Nullable IdempotencyTransactions transactions) {
		return new IdempotentOperation(
				new OperationTerms("", defaults.guarantee(), defaults.lease(), defaults.retention(), OnPending.REJECT),
				KeySource.HEADER, null, FingerprintExclusions.NOTHING, transactions);
	}

	/**
	 * Reads an annotation.
	 * @throws IdempotentConfigurationException if it asks for what cannot be
	 */
	static IdempotentOperation of(Class<?> handlerType, Method method, Idempotent annotation,
			OperationDefaults defaults, @Nullable IdempotencyTransactionSource transactionSource) {
		OperationTerms terms = OperationTerms.of(handlerType, method, annotation, defaults);
		String described = IdempotentConfigurationException.describe(handlerType, method);
		if (annotation.from() == KeySource.FINGERPRINT && annotation.key().isEmpty()
				&& annotation.retention().isEmpty()) {
			throw OperationTerms.mistake(described, "takes its key from the fingerprint and states no retention",
					"Say for how long two equal requests are one, such as retention = \"1m\".", null);
		}
		FingerprintExclusions ignored = ignored(described, annotation.ignore());
		if (ignored.isEverything() && annotation.key().isEmpty()) {
			throw OperationTerms.mistake(described, "ignores everything and states no key",
					"Say which part of the request is the key, such as key = \"#body.id\", or list what to ignore.",
					null);
		}
		return new IdempotentOperation(terms, annotation.from(), expression(described, annotation.key()), ignored,
				(terms.guarantee() == Guarantee.TRANSACTION) ? transactions(handlerType, method, transactionSource)
						: null);
	}

	/**
	 * Finds the transactions of a handler method.
	 * @throws IdempotentConfigurationException if it cannot have them
	 */
	static IdempotencyTransactions transactions(Class<?> handlerType, Method method,
			@Nullable IdempotencyTransactionSource transactionSource) {
		String described = IdempotentConfigurationException.describe(handlerType, method);
		if (AsynchronousReturn.isOf(method)) {
			throw OperationTerms.mistake(described,
					"answers asynchronously, so Guarantee.TRANSACTION cannot hold for it",
					"Return the answer itself, or use Guarantee.LEASE.", null);
		}
		if (transactionSource == null) {
			throw OperationTerms.noDatabase(described);
		}
		return transactionSource.transactionsOf(handlerType, method);
	}

	/**
	 * Checks the URI template variables that the key expression reads.
	 * @throws IdempotentConfigurationException if the handler's URL patterns lack one
	 */
	void requirePathVariables(String described, Set<String> known) {
		String unknown = (this.key != null) ? this.key.unknownPathVariable(known) : null;
		if (unknown != null) {
			throw OperationTerms.mistake(described,
					"reads #path." + unknown + " in its key expression, and its URL patterns "
							+ (known.isEmpty() ? "have no variables" : "have only the variables " + known),
					"Correct the name, or add {" + unknown + "} to the URL pattern.", null);
		}
	}

	private static @Nullable RequestKeyExpression expression(String described, String text) {
		try {
			return text.isEmpty() ? null : RequestKeyExpression.parse(text);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw OperationTerms.badExpression(described, text, ex);
		}
	}

	private static FingerprintExclusions ignored(String described, String[] entries) {
		try {
			return FingerprintExclusions.of(entries);
		}
		catch (IllegalArgumentException ex) {
			throw OperationTerms.mistake(described, "ignores " + Arrays.toString(entries) + ": " + ex.getMessage(),
					"List names of parameters, and JSON pointers such as /requestedAt.", ex);
		}
	}

}
