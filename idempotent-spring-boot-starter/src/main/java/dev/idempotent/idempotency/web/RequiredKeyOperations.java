package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * The operations of handlers that are not annotated but need a key by configuration.
 * Under {@link Guarantee#TRANSACTION} each handler has its own transactions.
 */
final class RequiredKeyOperations {

	private final List<Rule> rules;

	private final OperationSettings defaults;

	private final @Nullable IdempotencyTransactionSource transactionSource;

	private final IdempotentOperation underLease;

	private final Map<Method, IdempotentOperation> inTransactions = new ConcurrentHashMap<>();

	RequiredKeyOperations(List<String> requests, OperationSettings defaults,
			@Nullable IdempotencyTransactionSource transactionSource) {
		this(requests.stream().map(Rule::parse).toList(), transactionSource, defaults);
	}

	private RequiredKeyOperations(List<Rule> rules, @Nullable IdempotencyTransactionSource transactionSource,
			OperationSettings defaults) {
		this.rules = rules;
		this.defaults = defaults;
		this.transactionSource = transactionSource;
		this.underLease = IdempotentOperation.ofRule(defaults, null);
	}

	/**
	 * Returns the same operations for paths that are matched as any of the mappings does,
	 * such as without regard to case.
	 */
	RequiredKeyOperations matchedAs(List<RequestMappingHandlerMapping> mappings) {
		List<Rule> parsed = mappings.stream().flatMap((mapping) -> {
			PathPatternParser parser = mapping.getPatternParser();
			return this.rules.stream().map((rule) -> (parser != null) ? rule.parsedBy(parser) : rule);
		}).distinct().toList();
		return new RequiredKeyOperations(parsed, this.transactionSource, this.defaults);
	}

	List<Rule> rules() {
		return this.rules;
	}

	boolean requireKey(String method, PathContainer path) {
		for (Rule rule : this.rules) {
			if (rule.matches(method, path)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns the operation of handlers that are not methods, which have no transactions.
	 */
	IdempotentOperation ofOtherHandler() {
		return this.underLease;
	}

	IdempotentOperation of(HandlerMethod handler) {
		return (this.defaults.guarantee() != Guarantee.TRANSACTION) ? this.underLease
				: this.inTransactions
					.computeIfAbsent(handler.getMethod(), (method) -> IdempotentOperation.ofRule(this.defaults,
							IdempotentOperation.transactions(handler.getBeanType(), method, this.transactionSource)));
	}

	/**
	 * Checks at start-up that each handler with a required key can have an operation.
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
			.anyMatch((pattern) -> mayRequireKey(methods, pattern));
	}

	/**
	 * Returns whether requests to a mapping may need a key.
	 * @param methods the mapping's methods; empty means all
	 * @param pattern the mapping's path pattern
	 */
	boolean mayRequireKey(Set<RequestMethod> methods, PathContainer pattern) {
		return this.rules.stream().anyMatch((rule) -> rule.matches(methods, pattern));
	}

	/**
	 * A rule that requests need a key.
	 *
	 * @param method the HTTP method
	 * @param path the pattern of the path within the application
	 */
	record Rule(String method, PathPattern path) {

		private static final Pattern RULE = Pattern.compile("([A-Z]+) +(/\\S*)");

		/**
		 * Parses a rule.
		 * @param rule method and path pattern, such as {@code POST /api/**}
		 * @throws IdempotentConfigurationException if it is malformed
		 */
		static Rule parse(String rule) {
			Matcher words = RULE.matcher(rule.strip());
			if (!words.matches()) {
				throw malformed("'" + rule + "' is not an HTTP method followed by a path pattern", null);
			}
			try {
				return new Rule(words.group(1), PathPatternParser.defaultInstance.parse(words.group(2)));
			}
			catch (PatternParseException ex) {
				throw malformed(ex.getMessage(), ex);
			}
		}

		private Rule parsedBy(PathPatternParser parser) {
			return new Rule(this.method, parser.parse(this.path.getPatternString()));
		}

		private static IdempotentConfigurationException malformed(String mistake, @Nullable Throwable cause) {
			return new IdempotentConfigurationException("idempotent.web.required-for: " + mistake + ".",
					"List HTTP methods with path patterns, such as POST /api/**.", cause);
		}

		/**
		 * Returns whether a mapping matches this rule.
		 * @param methods the mapping's methods; empty means all
		 */
		boolean matches(Set<RequestMethod> methods, PathContainer pattern) {
			return (methods.isEmpty() || methods.contains(RequestMethod.resolve(this.method)))
					&& this.path.matches(pattern);
		}

		boolean matches(String requestMethod, PathContainer requestPath) {
			return this.method.equals(requestMethod) && this.path.matches(requestPath);
		}

	}

}
