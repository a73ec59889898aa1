package main

import "strings"

// customUserData are texts people put into a node class, good ones and others, with their names.
var customUserData = [][2]string{
	{"empty", ""},
	{"a shell script", "#!/bin/bash\necho hello\n"},
	{"a shell script without a newline at its end", "#!/bin/bash\necho hello"},
	{"a shell script with CRLF", "#!/bin/bash\r\necho hello\r\n"},
	{"PowerShell", "Write-Host \"hello\"\nGet-ChildItem"},
	{"MIME, one part", mimeText("\n", "BOUNDARY", script+"|#!/bin/bash\necho 1")},
	{"MIME, two parts", mimeText("\n", "==B==", script+"|#!/bin/bash\necho 1",
		"application/node.eks.aws|apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}")},
	{"MIME with CRLF", mimeText("\r\n", "BOUNDARY",
		"text/cloud-config; charset=\"us-ascii\"|#cloud-config\r\npackages: []")},
	{"MIME with our boundary", mimeText("\n", "//", script+"|#!/bin/bash\necho 1")},
	{"MIME, content type first", "Content-Type: multipart/mixed; boundary=\"B\"\n" +
		"MIME-Version: 1.0\n\n--B\nContent-Type: text/x-shellscript\n\necho 1\n--B--\n"},
	{"MIME, part with more headers", mimeHeader + "--B\n" +
		"Content-Disposition: attachment; filename=\"a.sh\"\nContent-Type: text/x-shellscript\n" +
		"Content-Transfer-Encoding: 7bit\n\necho 1\n--B--\n"},
	{"MIME without parts", mimeHeader + "--B--\n"},
	{"MIME without a boundary", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\necho 1\n"},
	{"MIME, not multipart", "MIME-Version: 1.0\nContent-Type: text/x-shellscript\n\necho 1\n"},
	{"MIME cut short", mimeHeader + "--B\nContent-Type: text/x-shellscript\n\necho 1\n"},
	{"MIME after a blank line", "\n" + mimeText("\n", "B", "text/x-shellscript|echo 1")},
	{"NodeConfig", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n" +
		"spec:\n  kubelet:\n    config:\n      maxPods: 42\n"},
	{"NodeConfig with CRLF", "apiVersion: node.eks.aws/v1alpha1\r\nkind: NodeConfig\r\n"},
	{"a YAML list", "- a\n- b\n"},
	{"one YAML key", "key: value"},
	{"TOML, other settings", "[settings.host-containers.admin]\nenabled = true\n\n" +
		"[settings.motd]\ntext = \"hi\"\n"},
	{"TOML, kubernetes settings", "[settings.kubernetes]\ncluster-name = \"other\"\nmax-pods = 5\n" +
		"container-log-max-files = 3\nlog-level = 4\ncloud-provider = \"\"\n"},
	{"TOML, unknown keys", "[settings.kubernetes]\nnot-a-setting = 1\nevent-qps = 7\n" +
		"[settings.kubernetes.also-not]\nx = 1\n"},
	{"TOML, labels and taints", "[settings.kubernetes.node-labels]\nown = \"1\"\n" +
		"\"karpenter.sh/capacity-type\" = \"other\"\n" +
		"[settings.kubernetes.node-taints]\nown = [\"1:NoSchedule\"]\n"},
	{"TOML, empty tables", "[settings]\n[settings.kubernetes]\n" +
		"[settings.kubernetes.node-labels]\n[settings.kubernetes.kube-reserved]\n[settings.ntp]\n"},
	{"TOML, nothing but a comment", "# nothing\n"},
	{"TOML, inline tables", "settings = { kubernetes = { event-burst = 3, " +
		"eviction-hard = { \"memory.available\" = \"1%\" } } }\n"},
	{"TOML, dotted keys", "settings.kubernetes.node-labels.own = \"1\"\n" +
		"settings.kubernetes.server-tls-bootstrap = true\n"},
	{"TOML with CRLF", "[settings.kubernetes]\r\nevent-qps = 7\r\n"},
	{"TOML, credential providers and static pods",
		"[settings.kubernetes.credential-providers.ecr-credential-provider]\nenabled = true\n" +
			"cache-duration = \"12h\"\nimage-patterns = [\"*.dkr.ecr.*.amazonaws.com\"]\n" +
			"[settings.kubernetes.static-pods.p]\nenabled = true\nmanifest = \"YQ==\"\n"},
	{"TOML, bootstrap commands", bootstrapCommand},
	{"TOML, outside settings", "[other]\nx = 1\n[settings.motd]\ntext = \"hi\"\n"},
	{"TOML, settings is no table", "settings = 1\n"},
	{"TOML, kubernetes is no table", "[settings]\nkubernetes = 1\n"},
	{"TOML, a label is no text", "[settings.kubernetes.node-labels]\nown = 1\n"},
	{"TOML, twice the same key", "[settings.motd]\ntext = \"a\"\ntext = \"b\"\n"},
	{"TOML broken", "[settings.kubernetes\nx = "},
}

const (
	script           = "text/x-shellscript; charset=\"us-ascii\""
	mimeHeader       = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n"
	bootstrapCommand = "[settings.bootstrap-commands.001-own]\n" +
		"commands = [[\"apiclient\", \"set\", \"motd=x\"]]\nmode = \"once\"\nessential = false\n"
)

// customRows have user data that a person wrote.
func customRows(family string) []userDataRow {
	var rows []userDataRow
	for _, custom := range customUserData {
		name, text := custom[0], custom[1]
		isForBottlerocket := strings.HasPrefix(name, "TOML") && name != "TOML with CRLF"
		if family != "Bottlerocket" && isForBottlerocket {
			continue
		}
		row := joining(name, plainKubelet)
		row.Custom = &text
		rows = append(rows, row)
	}
	if family == "Bottlerocket" {
		text := bootstrapCommand
		row := joining("TOML, bootstrap commands and instance store", plainKubelet)
		row.Custom, row.RAID0 = &text, true
		rows = append(rows, row)
	}
	return rows
}

// mimeText is a MIME document; each part is `content type|body`.
func mimeText(newline, boundary string, parts ...string) string {
	lines := []string{
		"MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=\"" + boundary + "\"", "",
	}
	for _, part := range parts {
		contentType, body, _ := strings.Cut(part, "|")
		lines = append(lines, "--"+boundary, "Content-Type: "+contentType, "", body)
	}
	return strings.Join(append(lines, "--"+boundary+"--", ""), newline)
}
