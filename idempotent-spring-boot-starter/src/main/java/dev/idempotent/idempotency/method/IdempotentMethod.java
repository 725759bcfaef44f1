package dev.idempotent.idempotency.method;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import tools.jackson.core.JacksonException;

/**
 * An annotated method: its operation, and how a call yields a key and a fingerprint.
 *
 * @param described the method, for messages
 * @param operation the operation of all calls
 * @param key the expression of the key
 * @param arguments reads the arguments of a call
 */
record IdempotentMethod(String described, MethodOperation operation, KeyExpression key, MethodArguments arguments) {

	/**
	 * Reads the annotation of a method.
	 * @throws dev.idempotent.IdempotentConfigurationException if it is invalid
	 */
	static IdempotentMethod of(AnnotatedMethod method, Idempotent annotation, MethodSettings settings) {
		OperationSettings operationSettings = OperationSettings.of(method.type(), method.method(), annotation,
				settings.defaults());
		List<String> names = method.parameterNames();
		ResultCodec codec = ResultCodec.of(method, settings.json());
		boolean asynchronous = CompletionStage.class.isAssignableFrom(method.method().getReturnType());
		IdempotencyTransactions transactions = (operationSettings.guarantee() == Guarantee.TRANSACTION)
				? transactions(method, asynchronous, settings) : null;
		MethodOperation.Participation participation = participation(method, asynchronous, transactions, settings);
		return new IdempotentMethod(method.describe(),
				new MethodOperation(operationSettings, kind(method), codec, asynchronous, participation, transactions),
				key(method, annotation, names), arguments(method, names, annotation.ignore()));
	}

	/**
	 * Recognizes listeners by the names of their annotations, which belong to many
	 * libraries.
	 */
	private static Kind kind(AnnotatedMethod method) {
		return Stream.of(method.method(), method.type())
			.flatMap((element) -> MergedAnnotations.from(element).stream())
			.anyMatch((annotation) -> annotation.getType().getSimpleName().endsWith("Listener")) ? Kind.LISTENER
					: Kind.METHOD;
	}

	/**
	 * Derives the key of a call.
	 * @throws IllegalArgumentException if the arguments yield none
	 */
	IdempotencyKey keyOf(@Nullable Object[] values, String namespace) {
		try {
			String value = this.key.evaluate(this.arguments.byName(values));
			if (value != null) {
				return IdempotencyKey.of(IdempotencyKey.Kind.METHOD, namespace, "", this.operation.settings().name(),
						value);
			}
		}
		catch (EvaluationException | JacksonException ex) {
			throw noKey(ex);
		}
		throw noKey(null);
	}

	private IllegalArgumentException noKey(@Nullable Exception cause) {
		return new IllegalArgumentException("This call of " + this.described
				+ " has no idempotency key: the key expression of its @Idempotent yields nothing for its arguments",
				cause);
	}

	Fingerprint fingerprintOf(@Nullable Object[] values, MethodSettings settings) {
		return this.arguments.fingerprint(values, settings.json());
	}

	private static KeyExpression key(AnnotatedMethod method, Idempotent annotation, List<String> names) {
		String text = annotation.key();
		if (annotation.from() == KeySource.TOKEN) {
			throw method.invalid("takes its key from a one-time token, and is not a web handler",
					"Move the annotation to the web handler that gets the token, or set the argument that is the key, "
							+ "such as key = \"#event.id\", without from = KeySource.TOKEN.",
					null);
		}
		if (text.isEmpty()) {
			throw method.invalid("has no key, and is not a web handler",
					"Set the argument that is the key, such as key = \"#event.id\".", null);
		}
		try {
			return KeyExpression.parse(text, new HashSet<>(names));
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw OperationSettings.badExpression(method.describe(), text, ex);
		}
	}

	private static MethodArguments arguments(AnnotatedMethod method, List<String> names, String[] ignored) {
		try {
			return new MethodArguments(names, ignored);
		}
		catch (IllegalArgumentException ex) {
			throw method.invalid("ignores " + Arrays.toString(ignored) + ": " + ex.getMessage(),
					"List names of parameters, and JSON pointers that begin with one, such as /event/sentAt.", ex);
		}
	}

	private static IdempotencyTransactions transactions(AnnotatedMethod method, boolean asynchronous,
			MethodSettings settings) {
		if (asynchronous) {
			throw method.invalid("returns a future, and a transaction ends when its method returns",
					"Return the result itself "
							+ "(an @Async method may be called by another that returns the future), or use "
							+ "Guarantee.LEASE.",
					null);
		}
		if (settings.transactionSource() == null) {
			throw OperationSettings.noDatabase(method.describe());
		}
		return settings.transactionSource().joiningTransactionsOf(method.type(), method.method());
	}

	/**
	 * Under {@link Guarantee#TRANSACTION} the advice is inside the method's own
	 * transaction, and joins it.
	 */
	private static MethodOperation.Participation participation(AnnotatedMethod method, boolean asynchronous,
			@Nullable IdempotencyTransactions transactions, MethodSettings settings) {
		if (asynchronous) {
			return MethodOperation.Participation.INDEPENDENT;
		}
		TransactionAttributeSource attributes = settings.attributes();
		return (transactions != null || attributes == null) ? MethodOperation.Participation.JOINED
				: MethodOperation.Participation.of(attributes.getTransactionAttribute(method.method(), method.type()));
	}

}
