package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.annotation.RequestScope;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Controllers under {@code Guarantee.TRANSACTION} whose proxies differ from the proxies
 * of Spring's auto-proxying: they run once per key, or commit nothing.
 */
class UnusualProxiesIntegrationTests {

	private static final MethodInterceptor FALLBACK = (call) -> {
		try {
			return call.proceed();
		}
		catch (IllegalStateException ex) {
			return "fallback";
		}
	};

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> WebApplication.start(Application.class,
			redis, WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()));

	private final String name = "work-" + UUID.randomUUID();

	@ParameterizedTest
	@ValueSource(strings = { "/scoped", "/advised-elsewhere" })
	void commitOneRun(String path) {
		HttpResponse<byte[]> first = post(path);
		assertThat(first.statusCode()).as(WebApplication.text(first)).isEqualTo(200);
		assertThat(post(path).headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(rows()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/scoped/failing", "/swapped/failing", "/overtaken/failing" })
	void commitNothingIfAdviceHidesAFailure(String path) {
		assertThat(post(path).statusCode()).isEqualTo(500);
		assertThat(rows()).isZero();
	}

	private HttpResponse<byte[]> post(String path) {
		return application.post(path + "?name=" + this.name, "{}", "Idempotency-Key", this.name);
	}

	private int rows() {
		return application.bean(Works.class).count(this.name);
	}

	@RequestScope
	@RestController
	static class Scoped {

		private final Works works;

		Scoped(Works works) {
			this.works = works;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/scoped")
		String run(@RequestParam String name) {
			this.works.write(name);
			return "run";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/scoped/failing")
		String fail(@RequestParam String name) {
			this.works.write(name);
			throw new IllegalStateException("Half of the work is done");
		}

	}

	@RestController
	static class Swapped {

		private final Works works;

		Swapped(Works works) {
			this.works = works;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/swapped/failing")
		public String fail(@RequestParam String name) {
			this.works.write(name);
			throw new IllegalStateException("Half of the work is done");
		}

	}

	@RestController
	static class Overtaken {

		private final Works works;

		Overtaken(Works works) {
			this.works = works;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/advised-elsewhere")
		String run(@RequestParam String name) {
			this.works.write(name);
			return "run";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/overtaken/failing")
		String fail(@RequestParam String name) {
			this.works.write(name);
			throw new IllegalStateException("Half of the work is done");
		}

	}

	/**
	 * Adds advice inside of all other.
	 */
	static class Fallbacks implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if ((bean instanceof Scoped || bean instanceof Overtaken) && bean instanceof Advised advised) {
				NameMatchMethodPointcut failing = new NameMatchMethodPointcut();
				failing.setMappedName("fail");
				// That of a scoped bean is known to the advice of the library.
				advised.addAdvisor((bean instanceof Scoped) ? 1 : advised.getAdvisorCount(),
						new DefaultPointcutAdvisor(failing, FALLBACK));
			}
			return bean;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Works.class, Scoped.class, Overtaken.class })
	static class Application {

		@Bean
		static Fallbacks fallbacks() {
			return new Fallbacks();
		}

		@Bean
		Swapped swapped(Works works) {
			ProxyFactory inside = new ProxyFactory(new Swapped(works));
			inside.setProxyTargetClass(true);
			inside.addAdvice(FALLBACK);
			ProxyFactory outside = new ProxyFactory();
			outside.setProxyTargetClass(true);
			outside.setTargetSource(new HotSwappableTargetSource(inside.getProxy()));
			return (Swapped) outside.getProxy();
		}

	}

}
