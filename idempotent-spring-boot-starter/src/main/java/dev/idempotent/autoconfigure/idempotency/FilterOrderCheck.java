package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.web.IdempotencyFilter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.AbstractFilterRegistrationBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletContextInitializerBeans;
import org.springframework.web.context.WebApplicationContext;

/**
 * Warns of filters that may run after the idempotency filter, which does not compare what
 * they change.
 */
final class FilterOrderCheck implements SmartInitializingSingleton {

	private static final String ALL_SERVLETS = "*";

	private static final Logger logger = LoggerFactory.getLogger(FilterOrderCheck.class);

	private final WebApplicationContext context;

	FilterOrderCheck(WebApplicationContext context) {
		this.context = context;
	}

	@Override
	public void afterSingletonsInstantiated() {
		ServletContext servletContext = this.context.getServletContext();
		Set<String> names = (servletContext != null) ? find(servletContext) : Set.of();
		if (!names.isEmpty()) {
			logger.warn("The filters {} may run after the idempotency filter: what they change in a request is not "
					+ "compared, and what they change in a response is stored. Map them to URL patterns instead of "
					+ "servlet names, and do not change the order of the idempotency filter", names);
		}
	}

	/**
	 * Containers differ in the order of filters that are mapped to all servlets, and do
	 * not reveal the order of filters that Boot has not registered.
	 */
	private Set<String> find(ServletContext servletContext) {
		List<AbstractFilterRegistrationBean<?>> inOrder = registrations();
		int position = IntStream.range(0, inOrder.size()).filter((i) -> isOwn(inOrder.get(i))).findFirst().orElse(-1);
		if (position < 0) {
			return Set.of();
		}
		AbstractFilterRegistrationBean<?> own = inOrder.get(position);
		Set<String> names = mappedToServlets(servletContext);
		if (own.isMatchAfter() && own.getServletNames().contains(ALL_SERVLETS)) {
			inOrder.stream()
				.filter((other) -> !other.isMatchAfter() && !other.getServletNames().contains(ALL_SERVLETS))
				.forEach((other) -> names.remove(other.getFilterName()));
		}
		else {
			// The application has registered the filter itself.
			inOrder.subList(position + 1, inOrder.size()).forEach((other) -> names.add(other.getFilterName()));
		}
		names.remove(own.getFilterName());
		return names;
	}

	private static Set<String> mappedToServlets(ServletContext servletContext) {
		return servletContext.getFilterRegistrations()
			.values()
			.stream()
			// Tomcat does not reveal mappings to all servlets.
			.filter((filter) -> !filter.getServletNameMappings().isEmpty() || filter.getUrlPatternMappings().isEmpty())
			.map(FilterRegistration::getName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private List<AbstractFilterRegistrationBean<?>> registrations() {
		List<AbstractFilterRegistrationBean<?>> registrations = new ArrayList<>();
		for (ServletContextInitializer initializer : new ServletContextInitializerBeans(this.context)) {
			if (initializer instanceof AbstractFilterRegistrationBean<?> filter && filter.isEnabled()) {
				registrations.add(filter);
			}
		}
		return registrations;
	}

	private static boolean isOwn(AbstractFilterRegistrationBean<?> registration) {
		return registration instanceof FilterRegistrationBean && registration.getFilter() instanceof IdempotencyFilter;
	}

}
