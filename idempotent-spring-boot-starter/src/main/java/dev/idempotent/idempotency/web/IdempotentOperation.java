package dev.idempotent.idempotency.web;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationNames;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParseException;

/**
 * The operation of a handler method: its annotation, checked and with defaults applied.
 *
 * @param settings the settings of each run
 * @param keySource the source of the key, unless there is an expression
 * @param keyExpression the expression of the key, or {@code null}
 * @param fingerprinter computes the fingerprint of a request
 * @param transactions the transactions of the work, or {@code null} under
 * {@link Guarantee#LEASE}
 */
record IdempotentOperation(OperationSettings settings, KeySource keySource,
		@Nullable RequestKeyExpression keyExpression, RequestFingerprinter fingerprinter,
		@Nullable IdempotencyTransactions transactions) {

	/**
	 * Creates the operation of handlers that are not annotated. It has no name, because a
	 * key from a header does not include one.
	 * @param conditions what selects the handler beside path and method, or {@code null}
	 * if it is not a method
	 * @param transactions the transactions of the work, or {@code null} under
	 * {@link Guarantee#LEASE}
	 */
	static IdempotentOperation ofRule(OperationSettings defaults, @Nullable String conditions,
			@Nullable IdempotencyTransactions transactions) {
		return new IdempotentOperation(defaults, KeySource.HEADER, null, RequestFingerprinter.of(conditions),
				transactions);
	}

	/**
	 * Creates the operation of an annotated handler.
	 * @param conditions what selects it beside path and method
	 * @param keyHeader the header of keys
	 * @throws IdempotentConfigurationException if the annotation cannot be applied to it
	 */
	static IdempotentOperation of(Handler handler, String conditions, Idempotent annotation, String keyHeader,
			OperationSettings defaults, @Nullable IdempotencyTransactionSource transactionSource) {
		String described = handler.describe();
		if (annotation.from() == KeySource.TOOL_CALL) {
			throw OperationSettings.mistake(described, "takes its key from the call of a tool, and is a web handler",
					"Annotate the @Tool or @McpTool method of another bean, or take the key from the request.", null);
		}
		OperationSettings settings = OperationSettings.of(handler.type(), handler.method(), annotation, defaults);
		if (annotation.from() == KeySource.FINGERPRINT && annotation.key().isEmpty()
				&& annotation.retention().isEmpty()) {
			throw OperationSettings.mistake(described, "takes its key from the fingerprint and has no retention",
					"Set how long equal requests count as one, such as retention = \"1m\".", null);
		}
		if (annotation.from() == KeySource.TOKEN) {
			checkToken(described, annotation);
		}
		RequestFingerprinter fingerprinter = fingerprinter(described, conditions, annotation.ignore())
			.with(comparedHeaders(described, keyHeader, annotation.include()));
		if (fingerprinter.ignoresEverything() && annotation.key().isEmpty()) {
			throw OperationSettings.mistake(described, "ignores everything and has no key",
					"Set the part of the request that is the key, such as key = \"#body.id\", or list what to ignore.",
					null);
		}
		if (fingerprinter.ignoresEverything() && annotation.include().length > 0) {
			throw OperationSettings.mistake(described, "ignores everything and includes headers",
					"Remove include, or list what to ignore.", null);
		}
		RequestKeyExpression expression = expression(described, annotation.key());
		if (expression != null || annotation.from() != KeySource.HEADER) {
			OperationNames.require(handler.type(), handler.method(), annotation);
		}
		return new IdempotentOperation(settings, annotation.from(), expression, fingerprinter,
				(settings.guarantee() == Guarantee.TRANSACTION) ? transactions(handler, transactionSource) : null);
	}

	/**
	 * Resolves the transactions of a handler method.
	 * @throws IdempotentConfigurationException if it cannot run in a transaction
	 */
	static IdempotencyTransactions transactions(Handler handler,
			@Nullable IdempotencyTransactionSource transactionSource) {
		String described = handler.describe();
		if (AnnotatedMethod.respondsLater(handler.method())) {
			throw OperationSettings.mistake(described,
					"responds asynchronously, which Guarantee.TRANSACTION does not support",
					"Return the response itself, or use Guarantee.LEASE.", null);
		}
		if (transactionSource == null) {
			throw OperationSettings.noDatabase(described);
		}
		return transactionSource.transactionsOf(handler.type(), handler.method());
	}

	/**
	 * Returns whether keys of the operation include its name and nothing that is unique
	 * without it. Operations may share the purpose of tokens, which have a serial.
	 */
	boolean isNamedInKeys() {
		return this.keyExpression != null || (this.keySource != KeySource.HEADER && this.keySource != KeySource.TOKEN);
	}

	/**
	 * Checks the URI template variables that the key expression reads.
	 * @throws IdempotentConfigurationException if the handler's URL patterns lack one
	 */
	void requirePathVariables(String described, Set<String> known) {
		String unknown = (this.keyExpression != null) ? this.keyExpression.unknownPathVariable(known) : null;
		if (unknown != null) {
			throw OperationSettings.mistake(described,
					"reads #path." + unknown + " in its key expression, and its URL patterns "
							+ (known.isEmpty() ? "have no variables" : "have only the variables " + known),
					"Correct the name, or add {" + unknown + "} to the URL pattern.", null);
		}
	}

	/**
	 * Refuses a request whose key was used for a different request. The text must not
	 * lead a client to repeat what the first request has done.
	 */
	RefusedRequestException keyReused() {
		if (this.keyExpression != null) {
			return Problem.KEY_REUSED.refusal(
					"Nothing was done for this request: this operation derives its idempotency key from the request, "
							+ "and the first one with this key had different content. The first one counts. "
							+ Problem.FIRST_COUNTS);
		}
		return (this.keySource != KeySource.TOKEN) ? Problem.KEY_REUSED.refusal()
				: Problem.KEY_REUSED.refusal(
						"Nothing was done for this request: the first one with this token had different content, and "
								+ "it counts. " + Problem.FIRST_COUNTS
								+ " Load the page again only for what you want as a second operation.");
	}

	private static void checkToken(String described, Idempotent annotation) {
		if (!annotation.key().isEmpty()) {
			throw OperationSettings.mistake(described, "takes its key from a one-time token and has a key expression",
					"Remove key, or remove from = KeySource.TOKEN.", null);
		}
		if (annotation.name().isEmpty()) {
			throw OperationSettings.mistake(described, "takes its key from a one-time token and has no name",
					"Set the purpose that the tokens are issued for, such as name = \"place-order\".", null);
		}
	}

	private static @Nullable RequestKeyExpression expression(String described, String text) {
		try {
			return text.isEmpty() ? null : RequestKeyExpression.parse(text);
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw OperationSettings.badExpression(described, text, ex);
		}
	}

	private static RequestFingerprinter fingerprinter(String described, String conditions, String[] entries) {
		try {
			return RequestFingerprinter.of(conditions, entries);
		}
		catch (IllegalArgumentException ex) {
			throw OperationSettings.mistake(described, "ignores " + Arrays.toString(entries) + ": " + ex.getMessage(),
					"List names of parameters, and JSON pointers such as /requestedAt.", ex);
		}
	}

	private static ComparedHeaders comparedHeaders(String described, String keyHeader, String[] names) {
		try {
			return ComparedHeaders.of(keyHeader, names);
		}
		catch (IllegalArgumentException ex) {
			throw OperationSettings.mistake(described, "includes " + Arrays.toString(names) + ": " + ex.getMessage(),
					"List each header once that decides the work and that a retry repeats, such as X-Account.", ex);
		}
	}

}
