package dev.idempotent.benchmark.http.application;

import java.lang.reflect.Method;
import java.util.Objects;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * An application of 220 mappings, 20 of them annotated; half of each have a URL variable.
 * Without the starter on the class path the JVM ignores the annotation.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ ManyMappingsApplication.PlainOrders.class, ManyMappingsApplication.AnnotatedOrders.class })
public class ManyMappingsApplication {

	private static final int UNANNOTATED = 200;

	private static final int ANNOTATED = 20;

	@Bean
	WebMvcRegistrations registrations() {
		return new WebMvcRegistrations() {

			@Override
			public RequestMappingHandlerMapping getRequestMappingHandlerMapping() {
				return new ManyMappings();
			}

		};
	}

	private static final class ManyMappings extends RequestMappingHandlerMapping {

		@Override
		protected void initHandlerMethods() {
			super.initHandlerMethods();
			register(UNANNOTATED, "/plain", PlainOrders.class);
			register(ANNOTATED, "/annotated", AnnotatedOrders.class);
		}

		private void register(int count, String path, Class<?> controller) {
			for (int number = 2; number < count; number += 2) {
				register(path + "/" + number + "/orders", controller, Order.class);
				register(path + "/" + (number + 1) + "/{id}/orders", controller, String.class, Order.class);
			}
		}

		private void register(String path, Class<?> controller, Class<?>... parameters) {
			Method handler = Objects.requireNonNull(ReflectionUtils.findMethod(controller, "place", parameters));
			registerMapping(RequestMappingInfo.paths(path)
				.methods(RequestMethod.POST)
				.options(getBuilderConfiguration())
				.build(), obtainApplicationContext().getBeanNamesForType(controller)[0], handler);
		}

	}

	@RestController
	static class PlainOrders {

		@PostMapping("/plain/0/orders")
		Receipt place(@RequestBody Order order) {
			return Receipt.of(order);
		}

		@PostMapping("/plain/1/{id}/orders")
		Receipt place(@PathVariable String id, @RequestBody Order order) {
			return Receipt.of(order);
		}

	}

	@RestController
	static class AnnotatedOrders {

		@PostMapping("/annotated/0/orders")
		@Idempotent
		Receipt place(@RequestBody Order order) {
			return Receipt.of(order);
		}

		@PostMapping("/annotated/1/{id}/orders")
		@Idempotent
		Receipt place(@PathVariable String id, @RequestBody Order order) {
			return Receipt.of(order);
		}

	}

}
