package dev.idempotent.autoconfigure.idempotency;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Warns of rules of {@code idempotent.web.required-for} that match no handler, such as
 * misspelled ones: the requests that they were to protect run without a key.
 */
final class RequiredForCheck {

	private static final Logger logger = LoggerFactory.getLogger(RequiredForCheck.class);

	private static final int MOST_CANDIDATES = 20;

	/**
	 * The controller of errors of Spring Boot has all methods, and the resources of
	 * Spring MVC have all paths.
	 */
	private static final List<String> SPRING = List.of("org.springframework.boot.", "org.springframework.web.");

	private RequiredForCheck() {
	}

	/**
	 * Checks the rules, unless a mapping does not tell what it maps.
	 * @param rules methods with path patterns, which are valid
	 * @param mappings all of the application
	 * @param types returns the type of a bean
	 */
	static void warnOfUnmatched(Collection<String> rules, Collection<HandlerMapping> mappings,
			Function<String, @Nullable Class<?>> types) {
		if (mappings.stream().anyMatch(RequiredForCheck::isUnknown)) {
			return;
		}
		List<Mapped> mapped = mappings.stream().flatMap((mapping) -> mapped(mapping, types)).toList();
		List<Mapped> endpoints = mappings.stream().flatMap(RequiredForCheck::endpoints).toList();
		List<String> unmatched = rules.stream()
			.map(String::strip)
			.filter((rule) -> Stream.concat(mapped.stream(), endpoints.stream()).noneMatch((one) -> one.overlaps(rule)))
			.toList();
		if (!unmatched.isEmpty()) {
			logger.warn(
					"idempotent.web.required-for: no controller method is mapped to {}, so these rules protect nothing. "
							+ "Correct or remove them; mapped are {}",
					unmatched,
					mapped.stream().map(Mapped::describe).distinct().sorted().limit(MOST_CANDIDATES).toList());
		}
	}

	/**
	 * Whether a mapping may have handlers that are not known here. Other mappings of
	 * Spring have none of the application, whose functional endpoints were looked for
	 * before.
	 */
	private static boolean isUnknown(HandlerMapping mapping) {
		return !(mapping instanceof RequestMappingHandlerMapping) && !(mapping instanceof AbstractUrlHandlerMapping)
				&& !isOfSpring(mapping.getClass());
	}

	/**
	 * The endpoints of the actuator, which are not candidates.
	 */
	private static Stream<Mapped> endpoints(HandlerMapping mapping) {
		return (mapping instanceof RequestMappingInfoHandlerMapping infos
				&& !(mapping instanceof RequestMappingHandlerMapping))
						? infos.getHandlerMethods().keySet().stream().flatMap(RequiredForCheck::mapped) : Stream.of();
	}

	private static Stream<Mapped> mapped(HandlerMapping mapping, Function<String, @Nullable Class<?>> types) {
		if (mapping instanceof RequestMappingHandlerMapping methods) {
			return methods.getHandlerMethods()
				.entrySet()
				.stream()
				.filter((handler) -> !isOfSpring(handler.getValue().getBeanType()))
				.flatMap((handler) -> mapped(handler.getKey()));
		}
		return (mapping instanceof AbstractUrlHandlerMapping urls) ? urls.getHandlerMap()
			.entrySet()
			.stream()
			.filter((handler) -> !isOfSpring(typeOf(handler.getValue(), types)))
			.map((handler) -> new Mapped(List.of(), handler.getKey())) : Stream.of();
	}

	/**
	 * A handler that is created on demand is the name of a bean.
	 */
	private static @Nullable Class<?> typeOf(Object handler, Function<String, @Nullable Class<?>> types) {
		return (handler instanceof String name) ? types.apply(name) : AopUtils.getTargetClass(handler);
	}

	private static boolean isOfSpring(@Nullable Class<?> type) {
		return type != null && SPRING.stream().anyMatch(type.getName()::startsWith);
	}

	private static Stream<Mapped> mapped(RequestMappingInfo info) {
		List<String> methods = info.getMethodsCondition().getMethods().stream().map(Enum::name).toList();
		return info.getPatternValues().stream().map((path) -> new Mapped(methods, path));
	}

	/**
	 * A path of a handler.
	 *
	 * @param methods its HTTP methods; empty for all of them
	 * @param path the pattern of the path
	 */
	private record Mapped(List<String> methods, String path) {

		boolean overlaps(String rule) {
			int space = rule.indexOf(' ');
			return (this.methods.isEmpty() || this.methods.contains(rule.substring(0, space)))
					&& overlap(segments(this.path), segments(rule.substring(space).strip()));
		}

		String describe() {
			return (this.methods.isEmpty() ? "" : String.join("|", this.methods) + " ") + this.path;
		}

		private static List<String> segments(String path) {
			return Arrays.stream(path.split("/")).filter((segment) -> !segment.isEmpty()).toList();
		}

		/**
		 * Whether a path may match both patterns; segments with wildcards match each
		 * other.
		 */
		private static boolean overlap(List<String> one, List<String> other) {
			if (isRest(other) && !isRest(one)) {
				return overlap(other, one);
			}
			if (isRest(one)) {
				return overlap(rest(one), other) || (!other.isEmpty() && overlap(one, rest(other)));
			}
			if (one.isEmpty() || other.isEmpty()) {
				return one.isEmpty() && other.isEmpty();
			}
			return (isPattern(one.get(0)) || isPattern(other.get(0)) || one.get(0).equalsIgnoreCase(other.get(0)))
					&& overlap(rest(one), rest(other));
		}

		private static boolean isRest(List<String> segments) {
			return !segments.isEmpty() && (segments.get(0).equals("**") || segments.get(0).startsWith("{*"));
		}

		private static boolean isPattern(String segment) {
			return segment.matches(".*[*?{].*");
		}

		private static List<String> rest(List<String> segments) {
			return segments.subList(1, segments.size());
		}

	}

}
