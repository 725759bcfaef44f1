package dev.idempotent.benchmark.http;

import java.util.regex.Pattern;

/**
 * What an application may have on its class path.
 */
enum Part {

	/**
	 * Spring MVC on Tomcat, and Spring Data Redis with Lettuce.
	 */
	BASE("spring-boot(-(autoconfigure|webmvc|servlet|http-converter|web-server|tomcat|jackson|data-redis|data-commons"
			+ "|persistence|transaction|netty))?|spring-(core|beans|context|context-support|aop|expression|web|webmvc"
			+ "|tx|data-redis|data-keyvalue|data-commons|oxm)|jackson-(databind|core|annotations)|tomcat-embed-.*"
			+ "|logback-(core|classic)|slf4j-api|jul-to-slf4j|log4j-to-slf4j|log4j-api|snakeyaml|commons-logging"
			+ "|micrometer-(commons|observation)|lettuce-core|netty-.*|reactor-core|reactive-streams"
			+ "|redis-authx-core|jspecify|jakarta.annotation-api"),

	/**
	 * Spring JDBC with HikariCP and the driver.
	 */
	DATABASE("spring-boot-(jdbc|sql)|spring-jdbc|HikariCP|postgresql"),

	/**
	 * Caffeine.
	 */
	CACHE("caffeine"),

	/**
	 * This project's classes, which are in a folder.
	 */
	STARTER("none"),

	/**
	 * The classes of an earlier state of this project, in the folder that the setting
	 * {@code earlier} names.
	 */
	EARLIER_STARTER("none");

	private final Pattern artifacts;

	Part(String artifacts) {
		this.artifacts = Pattern.compile("(" + artifacts + ")-\\d.*\\.jar");
	}

	boolean contains(String file) {
		return this.artifacts.matcher(file).matches();
	}

}
