package dev.idempotent.autoconfigure.idempotency;

import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FirstHandlerAdapterCheckTests {

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, DataRedisAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withPropertyValues("idempotent.namespace=shop");

	@Test
	void acceptsAdaptersOfTheApplicationThatComeLater() {
		this.runner.withBean(OrderedAdapter.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void rejectsAnAdapterThatComesFirst() {
		this.runner.withBean(FirstAdapter.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining(FirstAdapter.class.getName()));
	}

	@Test
	void rejectsAnExceptionResolverThatComesFirst() {
		this.runner.withBean(FirstResolver.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining(FirstResolver.class.getName()));
	}

	@Test
	void rejectsAHandlerThatCannotBeWatchedBesideAnAdapterOfTheApplication() {
		this.runner.withBean(Unproxied.class).run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(Unproxied.class)
			.withBean(AnsweringAdapter.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("cannot be proxied")
				.hasMessageContaining(AnsweringAdapter.class.getName()));
	}

	/**
	 * Whatever its package is, and also if it extends the one of Spring.
	 */
	@Test
	void judgesAnAdapterByTheHandlersThatItSupports() {
		this.runner.withBean(Unproxied.class)
			.withBean(OrderedAdapter.class)
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(Unproxied.class).withBean(WebMvcRegistrations.class, () -> new WebMvcRegistrations() {

			@Override
			public RequestMappingHandlerAdapter getRequestMappingHandlerAdapter() {
				return new RequestMappingHandlerAdapter() {
				};
			}

		})
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("cannot be proxied"));
	}

	@Test
	void rejectsAMappingThatComesFirst() {
		this.runner.withBean(FirstMapping.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining(FirstMapping.class.getName()));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "detectAllHandlerAdapters", "detectAllHandlerMappings", "detectAllHandlerExceptionResolvers" })
	void rejectsADispatcherServletThatDoesNotDetectAll(String property) {
		this.runner.withUserConfiguration(WithoutDetection.class)
			.withPropertyValues("test.not-detected=" + property)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("'dispatcherServlet' does not detect all handler " + detected(property)));
	}

	private static String detected(String property) {
		return property.substring("detectAllHandler".length())
			.replace("ExceptionR", "Exception r")
			.toLowerCase(Locale.ROOT);
	}

	@Test
	void rejectsADispatcherServletThatIsNoBeanAndDoesNotDetectAll() {
		DispatcherServlet servlet = new DispatcherServlet();
		servlet.setDetectAllHandlerAdapters(false);
		this.runner
			.withBean("other", ServletRegistrationBean.class, () -> new ServletRegistrationBean<>(servlet, "/other/*"))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("'other' does not detect all handler adapters"));
	}

	@Test
	void rejectsAnAdapterThatComesFirstInTheContextOfAnotherDispatcherServlet() {
		this.runner.run((context) -> {
			AnnotationConfigWebApplicationContext child = new AnnotationConfigWebApplicationContext();
			child.setServletContext(context.getServletContext());
			child.setParent(context);
			child.register(FirstAdapter.class);
			assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(child::refresh)
				.withMessageContaining(FirstAdapter.class.getName());
		});
	}

	static class OrderedAdapter implements HandlerAdapter, Ordered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public boolean supports(Object handler) {
			return false;
		}

		@Override
		public @Nullable ModelAndView handle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			return null;
		}

	}

	static class FirstAdapter extends OrderedAdapter implements PriorityOrdered {

	}

	static class AnsweringAdapter extends OrderedAdapter {

		@Override
		public boolean supports(Object handler) {
			return true;
		}

	}

	static class FirstMapping implements HandlerMapping, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
			return null;
		}

	}

	static class FirstResolver implements HandlerExceptionResolver, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
				@Nullable Object handler, Exception ex) {
			return null;
		}

	}

	@RestController
	record Unproxied() {

		@Idempotent
		@PostMapping("/unproxied")
		String run() {
			return "done";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithoutDetection {

		@Bean
		static BeanPostProcessor withoutDetection(Environment environment) {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					if (bean instanceof DispatcherServlet) {
						new BeanWrapperImpl(bean).setPropertyValue(environment.getRequiredProperty("test.not-detected"),
								false);
					}
					return bean;
				}

			};
		}

	}

}
