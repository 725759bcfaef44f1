package dev.idempotent.autoconfigure.saga;

import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Warns at startup if the calls of steps would neither carry keys nor be observed, or if
 * the clients of Spring Boot follow redirects, which the interceptor cannot see. The
 * steps are unknown until they run, so the application states by either property that it
 * has decided.
 */
final class SagaClientsCheck {

	private static final Logger logger = LoggerFactory.getLogger(SagaClientsCheck.class);

	private static final String CLIENT = "org.springframework.http.client.ClientHttpRequestInterceptor";

	private static final String BOOT_CLIENT = "org.springframework.boot.http.client.HttpClientSettings";

	private static final String TARGETS = "idempotent.client.targets";

	private static final String REDIRECTS = "spring.http.clients.redirects";

	private SagaClientsCheck() {
	}

	static void warn(ListableBeanFactory beans, Environment environment) {
		ClassLoader loader = SagaClientsCheck.class.getClassLoader();
		if (!ClassUtils.isPresent(CLIENT, loader) || "".equals(environment.getProperty(TARGETS))) {
			return;
		}
		if (!hasInterceptor(beans)) {
			logger.warn("{} is not set, so the calls that steps of sagas make with RestClient, RestTemplate and HTTP "
					+ "interfaces carry no key, and their responses prove nothing: a redirect or an ignored error "
					+ "counts as done. Set it to the hosts of these services, or to an empty value if no step makes "
					+ "such a call", TARGETS);
		}
		else if (ClassUtils.isPresent(BOOT_CLIENT, loader) && !environment.containsProperty(REDIRECTS)) {
			logger.warn("{} is not set, so the HTTP clients follow redirects, and the response to the last request "
					+ "counts for the step of a saga: a login page counts as done. Set it to dont-follow, or to follow "
					+ "if no service of a step redirects", REDIRECTS);
		}
	}

	private static boolean hasInterceptor(ListableBeanFactory beans) {
		return beans.getBeanNamesForType(IdempotencyKeyInterceptor.class, true, false).length > 0;
	}

}
