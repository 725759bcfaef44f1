package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * The operations of handlers that are not annotated and need a key by a rule of the
 * configuration. Under {@link Guarantee#TRANSACTION} each has transactions of its own.
 */
final class RequiredKeyOperations {

	private final List<RequiredKeyRule> rules;

	private final OperationTerms defaults;

	private final @Nullable IdempotencyTransactionSource transactionSource;

	private final IdempotentOperation underLease;

	private final Map<Method, IdempotentOperation> inTransactions = new ConcurrentHashMap<>();

	RequiredKeyOperations(List<RequiredKeyRule> rules, OperationTerms defaults,
			@Nullable IdempotencyTransactionSource transactionSource) {
		this.rules = List.copyOf(rules);
		this.defaults = defaults;
		this.transactionSource = transactionSource;
		this.underLease = IdempotentOperation.ofRule(defaults, null);
	}

	boolean isEmpty() {
		return this.rules.isEmpty();
	}

	boolean requireKey(String method, PathContainer path) {
		return this.rules.stream().anyMatch((rule) -> rule.matches(method, path));
	}

	/**
	 * The operation of what is no handler method: nothing tells its transactions.
	 */
	IdempotentOperation ofNoMethod() {
		return this.underLease;
	}

	IdempotentOperation of(HandlerMethod handler) {
		return (this.defaults.guarantee() != Guarantee.TRANSACTION) ? this.underLease
				: this.inTransactions
					.computeIfAbsent(handler.getMethod(), (method) -> IdempotentOperation.ofRule(this.defaults,
							IdempotentOperation.transactions(handler.getBeanType(), method, this.transactionSource)));
	}

	/**
	 * Finds out at once which handlers cannot have what the rules ask of them.
	 * @throws dev.idempotent.IdempotentConfigurationException if one cannot
	 */
	void check(RequestMappingHandlerMapping mapping) {
		mapping.getHandlerMethods().forEach((info, handler) -> {
			if (!handler.hasMethodAnnotation(Idempotent.class) && mayRequireKey(info)) {
				of(handler);
			}
		});
	}

	private boolean mayRequireKey(RequestMappingInfo info) {
		Set<RequestMethod> methods = info.getMethodsCondition().getMethods();
		return info.getPatternValues()
			.stream()
			.map(PathContainer::parsePath)
			.anyMatch((path) -> this.rules.stream().anyMatch((rule) -> rule.matches(methods, path)));
	}

}
