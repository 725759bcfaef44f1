package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.GenericTypeResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.json.JsonMapper;

/**
 * An annotated method: how to find the key of a call, and how to run it.
 *
 * @param described names the method in messages
 * @param operation how it runs
 * @param key yields the key
 * @param arguments reads the arguments
 */
record MethodOperation(String described, Operation operation, KeyExpression key, MethodArguments arguments) {

	/**
	 * Reads an annotation.
	 * @throws dev.idempotent.IdempotentConfigurationException if it asks for what cannot
	 * be
	 */
	static MethodOperation of(Class<?> type, Method method, Idempotent annotation, MethodSettings environment) {
		OperationTerms terms = OperationTerms.of(type, method, annotation, environment.defaults());
		String described = OperationTerms.describe(type, method);
		List<String> names = parameterNames(described, method);
		boolean asynchronous = CompletionStage.class.isAssignableFrom(method.getReturnType());
		ResultTypes.check(described, method);
		IdempotencyTransactions transactions = (terms.guarantee() == Guarantee.TRANSACTION)
				? transactions(type, method, described, environment) : null;
		ResultCodec codec = new ResultCodec(environment.json(), resultType(type, method, environment.json()),
				described);
		Participation participation = participation(type, method, asynchronous, transactions, environment);
		return new MethodOperation(described, new Operation(terms, codec, asynchronous, participation, transactions),
				key(described, annotation.key(), names), arguments(described, names, annotation.ignore()));
	}

	/**
	 * Finds the key of a call.
	 * @throws IllegalArgumentException if the arguments yield none
	 */
	IdempotencyKey keyOf(@Nullable Object[] values, String namespace) {
		try {
			String value = this.key.evaluate(this.arguments.byName(values));
			if (value != null) {
				return IdempotencyKey.of(IdempotencyKey.Kind.METHOD, namespace, "", this.operation.terms().name(),
						value);
			}
		}
		catch (EvaluationException | JacksonException ex) {
			throw noKey(ex);
		}
		throw noKey(null);
	}

	private IllegalArgumentException noKey(@Nullable Exception cause) {
		return new IllegalArgumentException(
				"This call of " + this.described
						+ " has no idempotency key: the expression in its @Idempotent yields nothing for its arguments",
				cause);
	}

	Fingerprint fingerprintOf(@Nullable Object[] values, MethodSettings environment) {
		return this.arguments.fingerprint(values, environment.json());
	}

	private static List<String> parameterNames(String described, Method method) {
		@Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
		if (names == null && method.getParameterCount() > 0) {
			throw OperationTerms.mistake(described, "does not tell the names of its parameters",
					"Compile with -parameters (spring-boot-starter-parent and the Gradle plugin set it; "
							+ "otherwise set maven.compiler.parameters=true).",
					null);
		}
		return (names == null) ? List.of() : Arrays.asList(names);
	}

	private static KeyExpression key(String described, String text, List<String> names) {
		if (text.isEmpty()) {
			throw OperationTerms.mistake(described, "is no web handler and states no key",
					"Say which argument is the key, such as key = \"#event.id\".", null);
		}
		try {
			return KeyExpression.parse(text, new HashSet<>(names));
		}
		catch (ParseException | IllegalArgumentException ex) {
			throw OperationTerms.badExpression(described, text, ex);
		}
	}

	private static MethodArguments arguments(String described, List<String> names, String[] ignored) {
		try {
			return new MethodArguments(names, ignored);
		}
		catch (IllegalArgumentException ex) {
			throw OperationTerms.mistake(described, "ignores " + Arrays.toString(ignored) + ": " + ex.getMessage(),
					"List names of parameters, and JSON pointers that begin with one, such as /event/sentAt.", ex);
		}
	}

	private static IdempotencyTransactions transactions(Class<?> type, Method method, String described,
			MethodSettings environment) {
		if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
			throw OperationTerms.mistake(described, "returns a future, and a transaction ends when its method returns",
					"Return the result itself "
							+ "(an @Async method may be called by another that returns the future), or use "
							+ "Guarantee.LEASE.",
					null);
		}
		if (environment.transactionSource() == null) {
			throw OperationTerms.noDatabase(described);
		}
		return environment.transactionSource().joiningTransactionsOf(type, method);
	}

	/**
	 * Under {@link Guarantee#TRANSACTION} the method's own transaction has begun before
	 * the advice runs: that is the one to join.
	 */
	private static Participation participation(Class<?> type, Method method, boolean asynchronous,
			@Nullable IdempotencyTransactions transactions, MethodSettings environment) {
		if (asynchronous) {
			return Participation.APART;
		}
		TransactionAttributeSource attributes = environment.attributes();
		return (transactions != null || attributes == null) ? Participation.JOINS
				: Participation.of(attributes.getTransactionAttribute(method, type));
	}

	private static JavaType resultType(Class<?> type, Method method, JsonMapper json) {
		JavaType declared = json.constructType(GenericTypeResolver.resolveType(method.getGenericReturnType(), type));
		JavaType[] later = declared.findTypeParameters(CompletionStage.class);
		return (later.length > 0) ? later[0] : declared;
	}

}
